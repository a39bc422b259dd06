package p

func f() {
	while x {
	}
}
