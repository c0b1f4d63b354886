@problemName P
@timeStamps false
@univaraite true
@classLabel true a b
@data
1,2,3:a
3,2,1:b
