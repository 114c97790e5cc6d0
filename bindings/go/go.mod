module securestream.example/securestream

go 1.24
