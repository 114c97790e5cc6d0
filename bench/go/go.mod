module securestream.example/bench

go 1.24
