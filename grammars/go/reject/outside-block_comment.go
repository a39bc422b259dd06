package p

/* no */ var x = 1
