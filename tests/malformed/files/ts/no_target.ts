@problemName P
@timeStamps false
@univariate true
@data
1,2,3:a
3,2,1:b
