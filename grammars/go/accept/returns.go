package p

func f(a, b int, c ...string) (int, error) {
	x, y := a, b
	x, p.y[1] = y, x
	return make([]int, 3)[0], []byte("é")
}
