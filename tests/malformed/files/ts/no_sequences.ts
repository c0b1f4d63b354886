@problemName P
@timeStamps false
@univariate true
@classLabel true a b
@data
