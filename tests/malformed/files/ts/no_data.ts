@problemName P
@timeStamps false
@univariate true
@classLabel true a b
1,2,3:a
3,2,1:b
