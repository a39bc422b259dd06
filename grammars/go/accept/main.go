// A program.
package main

import (
	"fmt"
	str "strings"
)

const limit = 0x10
const (
	first  = iota
	second float64 = 2.5e3 // twice
)

var names, others []string = []string{"a", "b"}, nil

type Shape interface {
	Area() float64
	Scale(by, to float64, rest ...int) (Shape, error)
}

type Point struct {
	X, Y int `json:"x"`
	next *Point
	tags map[string][]byte
}

func (p *Point) Move(dx, dy int) *Point {
	p.X += dx
	p.next.Y, names[0] = dy, "moved"
	return &Point{X: 1, Y: -dy}
}

func main() {
	defer fmt.Println("done\n", 'x', `raw \ "text"`)
	for i := 0; i < limit; i++ {
		if i%2 == 0 && !ok {
			continue
		} else if v, found := m["k"]; found {
			fmt.Printf("%d %s\n", v, str.ToUpper("ü"))
		} else {
			break
		}
	}
	for key, value := range map[string]int{"a": 1, "b": 2} {
		ch <- value
		*ptr = <-ch
	}
	switch x := y.(Shape); {
	case x != nil, done:
		fallthrough
	default:
		return
	}
	go func(n int) {
		sum(n, append(xs[1:], ys...)...)
	}(3)
	points := []Point{
		{1, 2},
		{X: 3},
	}
	for {
	}
}
