package p

func f() {
end:
	x()
}
