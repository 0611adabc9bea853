# outcome: accepted
# A byte order mark, Windows line ends, tabs, Greek names, prints and a demo.
import numpy as np

print("Σ")

class SoftmaxCrossEntropyScratch:
	def forward(self, x):
		self.τ = x.dtype
		ζ = x.astype(np.float64)
		ζ = ζ - ζ.max(-1, keepdims=True)
		ε = np.exp(ζ)
		Σ = ε.sum(-1, keepdims=True)
		self.π = ε / Σ
		print("forward", x.shape)
		return (np.log(Σ) - ζ).astype(self.τ)

	def backward(self, dout):
		δ = dout.astype(np.float64)
		return (self.π * δ.sum(-1, keepdims=True) - δ).astype(self.τ)

if __name__ == "__main__":
	raise SystemExit("only run by hand")
