# outcome: accepted
# A byte order mark, Windows line ends, tabs, Greek names, prints and a demo.
import math
import numpy as np

print("π =", math.pi)

class LayerNormScratch:
	def __init__(self, dim, eps=1e-6):
		self.ε = eps
		self.gamma = np.ones(dim)
		self.beta = np.zeros(dim)

	def forward(self, x):
		self.dtype = x.dtype
		ξ = x.astype(np.float64)
		μ = ξ.mean(-1, keepdims=True)
		self.σ = np.sqrt(ξ.var(-1, keepdims=True) + self.ε)
		self.x̂ = (ξ - μ) / self.σ
		print("forward", x.shape)
		return (self.x̂ * self.gamma + self.beta).astype(x.dtype)

	def backward(self, dout):
		δ = dout.astype(np.float64)
		axes = tuple(range(δ.ndim - 1))
		self.dgamma = (δ * self.x̂).sum(axes).astype(self.gamma.dtype)
		self.dbeta = δ.sum(axes).astype(self.beta.dtype)
		γδ = δ * self.gamma
		return ((γδ - γδ.mean(-1, keepdims=True) - self.x̂ * (γδ * self.x̂).mean(-1, keepdims=True)) / self.σ).astype(self.dtype)

if __name__ == "__main__":
	raise SystemExit("only run by hand")
