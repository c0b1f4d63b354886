@problemName P
@timeStamps false
@univariate true
@classLabel true a b
@data
1,,3:a
3,2,1:b
