package p

var x = a + b*-c<<2 &^ (d | 1)
