@dataclass(frozen=True)
class Point(Base, metaclass=Meta):
    x: float = 0.0
    y: float = -1.5e-3j

    @property
    def norm(self):
        return (self.x ** 2 + self.y ** 2) ** 0.5

    def __eq__(self, other): return self.x == other.x and self.y is not other.y

    async def load(self, url):
        async with session.get(url) as response:
            data = await response.json()
        return await self.check(data)


class Empty: pass
