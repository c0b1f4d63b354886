@problemName P
@timeStamps false
@univariate true
@classLabel true a b
@equalLength true
@data
1,2:a
3,2,1:b
