# outcome: accepted
# A byte order mark, Windows line ends, tabs, Greek names, prints and a demo.
import math
import numpy as np

print("lade Modul, π =", math.pi)

class RMSNormScratch:
	def __init__(self, dim, eps=1e-6):
		self.ε = eps
		self.gamma = np.ones(dim)

	def forward(self, x):
		self.x = x.astype(np.float64)
		self.ρ = np.sqrt((self.x**2).mean(-1, keepdims=True) + self.ε)
		self.x̂ = self.x / self.ρ
		print("forward", x.shape)
		self.dtype = x.dtype
		return (self.x̂ * self.gamma).astype(x.dtype)

	def backward(self, dout):
		δ = dout.astype(np.float64)
		self.dgamma = (δ * self.x̂).sum(tuple(range(δ.ndim - 1))).astype(self.gamma.dtype)
		γδ = δ * self.gamma
		μ = (γδ * self.x̂).mean(-1, keepdims=True)
		return ((γδ - self.x̂ * μ) / self.ρ).astype(self.dtype)

if __name__ == "__main__":
	raise SystemExit("only run by hand")
