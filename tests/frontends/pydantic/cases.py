"""Types that pydantic validates, by kind, for the tests to draw texts of."""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import enum
import ipaddress
import math
import pathlib
import re
import typing
import uuid
import zoneinfo
from decimal import Decimal
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    NotRequired,
    Optional,
    Required,
    TypeVar,
    Union,
)

import annotated_types
import pydantic.dataclasses
from pydantic import (
    UUID1,
    UUID3,
    UUID4,
    UUID5,
    AfterValidator,
    AliasChoices,
    AliasPath,
    AmqpDsn,
    AnyHttpUrl,
    AnyUrl,
    AnyWebsocketUrl,
    AwareDatetime,
    Base64Bytes,
    Base64Str,
    Base64UrlBytes,
    Base64UrlStr,
    BaseModel,
    BeforeValidator,
    ByteSize,
    ConfigDict,
    Discriminator,
    Field,
    FileUrl,
    FiniteFloat,
    FtpUrl,
    FutureDate,
    FutureDatetime,
    HttpUrl,
    IPvAnyAddress,
    IPvAnyInterface,
    IPvAnyNetwork,
    Json,
    KafkaDsn,
    MongoDsn,
    MySQLDsn,
    NaiveDatetime,
    NegativeFloat,
    NegativeInt,
    NonNegativeInt,
    NonPositiveFloat,
    OnErrorOmit,
    PastDate,
    PastDatetime,
    PositiveFloat,
    PositiveInt,
    PostgresDsn,
    RedisDsn,
    RootModel,
    SecretBytes,
    SecretStr,
    Strict,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    StringConstraints,
    Tag,
    TypeAdapter,
    WithJsonSchema,
    computed_field,
    conint,
    constr,
    field_validator,
    model_validator,
    validate_call,
)
from pydantic.json_schema import SkipJsonSchema
from typing_extensions import TypeAliasType, TypedDict

UTC = dt.UTC
T = TypeVar("T")


def configured(kind: Any, **config: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind, config=ConfigDict(**config))


def text(pattern: str, **more: Any) -> Any:
    return Annotated[str, Field(pattern=pattern, **more)]


def python_text(pattern: str) -> TypeAdapter[Any]:
    return configured(text(pattern), regex_engine="python-re")


class Anything:
    """A predicate of a user's that can be no key."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return True

    def __call__(self, value: object) -> bool:
        return True


UNHASHABLE = Anything()
PREDICATES = {
    "float of a complement": annotated_types.IsNotNan[float],
    "float of two complements": Annotated[
        float,
        annotated_types.Predicate(annotated_types.Not(annotated_types.Not(math.isfinite))),
    ],
    "str not lower": Annotated[str, annotated_types.Not(str.islower)],
    "str not of digits": Annotated[
        str, annotated_types.Predicate(annotated_types.Not(str.isdigit)), Field(max_length=3)
    ],
    "str not of ascii": Annotated[str, annotated_types.Not(str.isascii)],
    "str of code": Annotated[str, annotated_types.Predicate(UNHASHABLE)],
}
"""Not drawn into unions, where Python wants each of them to be hashable."""
NUMBERS = {
    "int": int,
    "int strict": StrictInt,
    "int positive": PositiveInt,
    "int negative": NegativeInt,
    "int not negative": NonNegativeInt,
    "int bounded": conint(ge=-5, lt=100),
    "int multiple": conint(multiple_of=7, ge=-50, le=50),
    "int huge": conint(ge=10**30),
    "int of other bounds": Annotated[int, Field(ge=True, lt="9", multiple_of=Decimal(2))],
    "int beyond 64 bits": conint(gt=2**63, lt=2**65),
    "float": float,
    "float strict": StrictFloat,
    "float finite": FiniteFloat,
    "float of a predicate": annotated_types.IsFinite[float],
    "float positive": PositiveFloat,
    "float negative": NegativeFloat,
    "float not positive": NonPositiveFloat,
    "float above 1": Annotated[float, Field(gt=1)],
    "float above 1 and below 2": Annotated[float, Field(gt=1, lt=2)],
    "float from 0.1 to 0.3": Annotated[float, Field(ge=0.1, le=0.3)],
    "float above 0.1, below 0.3": Annotated[float, Field(gt=0.1, lt=0.3)],
    "float close": Annotated[float, Field(gt=1.0, lt=1.0000000000000009)],
    "float of tenths": Annotated[float, Field(multiple_of=0.1)],
    "float of cents": Annotated[float, Field(multiple_of=0.01, ge=0)],
    "float of halves": Annotated[float, Field(multiple_of=0.5)],
    "float of 1.1": Annotated[float, Field(multiple_of=1.1)],
    "float of threes": Annotated[float, Field(multiple_of=3)],
    "float with infinite bounds": Annotated[float, Field(ge=float("-inf"), lt=float("inf"))],
    "decimal": Decimal,
    "decimal strict": Annotated[Decimal, Strict()],
    "decimal positive": Annotated[Decimal, Field(gt=0)],
    "decimal not positive": Annotated[Decimal, Field(le=0)],
    "decimal negative": Annotated[Decimal, Field(lt=0, decimal_places=3)],
    "decimal price": Annotated[Decimal, Field(gt=0, max_digits=8, decimal_places=2)],
    "decimal digits": Annotated[Decimal, Field(max_digits=4)],
    "decimal many digits": Annotated[Decimal, Field(max_digits=20)],
    "decimal 30 digits": Annotated[Decimal, Field(max_digits=30)],
    "decimal 30 whole digits": Annotated[Decimal, Field(max_digits=30, decimal_places=0)],
    "decimal countless digits": Annotated[Decimal, Field(max_digits=2**31)],
    "decimal countless places": Annotated[Decimal, Field(decimal_places=2**31)],
    "decimal places": Annotated[Decimal, Field(decimal_places=2)],
    "decimal no places": Annotated[Decimal, Field(decimal_places=0)],
    "decimal many digits and places": Annotated[Decimal, Field(max_digits=25, decimal_places=20)],
    "decimal only places": Annotated[Decimal, Field(max_digits=3, decimal_places=3)],
    "decimal more places than digits": Annotated[Decimal, Field(max_digits=2, decimal_places=4)],
    "decimal bounded": Annotated[Decimal, Field(ge=Decimal("0.1"), lt=Decimal("0.3"))],
    "decimal finely bounded": Annotated[
        Decimal, Field(gt=Decimal("1.00000000000000000001"), le=Decimal("2.00000000000000000001"))
    ],
    "decimal of tenths": Annotated[Decimal, Field(multiple_of=Decimal("0.1"))],
    "decimal of quarters": Annotated[Decimal, Field(multiple_of=Decimal("0.25"))],
    "decimal of threes": Annotated[Decimal, Field(multiple_of=3)],
    "decimal with a far bound": Annotated[Decimal, Field(ge=Decimal("-1e400"))],
    "decimal with infinities": Annotated[Decimal, Field(allow_inf_nan=True)],
    "complex": complex,
    "bool": bool,
    "bool strict": StrictBool,
    "int or float": int | float,
    "bounded int or float": Annotated[int | float, Field(ge=0, le=10)],
    "twice bounded union": Annotated[PositiveInt | float, Field(gt=-1), Field(lt=9)],
    "half bounded union": Annotated[int | float, Field(ge=0.5, lt=9.5)],
    "union with decimals": Annotated[int | Decimal, Field(gt=Decimal("-1.5"), le=Decimal("1.5"))],
    "float or decimal": Annotated[float | Decimal, Field(ge=0.1)],
    "finite union": Annotated[int | float, pydantic.AllowInfNan(False)],
    "bounded union strict": Annotated[StrictInt | StrictFloat, Field(gt=0)],
    "bytes size": ByteSize,
    "bytes size bounded": Annotated[ByteSize, Field(gt=3, le=1024)],
}
STRINGS = {
    "str": str,
    "str lower": annotated_types.LowerCase[str],
    "str upper": annotated_types.UpperCase[str],
    "str of digits": Annotated[annotated_types.IsDigit[str], Field(max_length=3)],
    "str of ascii": annotated_types.IsAscii[str],
    "str strict": StrictStr,
    "str lengths": Annotated[str, Field(min_length=2, max_length=4)],
    "constr": constr(strip_whitespace=True, to_lower=True, min_length=2),
    "str stripped": Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)],
    "str stripped pattern": Annotated[
        str, StringConstraints(strip_whitespace=True, to_upper=True, pattern="^[a-z ]+$")
    ],
    "str of config": configured(str, str_min_length=2, str_max_length=5, str_strip_whitespace=True),
    "bytes": bytes,
    "bytes lengths": Annotated[bytes, Field(min_length=2, max_length=3)],
    "bytes of True": Annotated[bytes, Field(min_length=False, max_length=True)],
    "bytes base64": configured(bytes, val_json_bytes="base64"),
    "bytes base64 lengths": configured(
        Annotated[bytes, Field(min_length=4, max_length=5)], val_json_bytes="base64"
    ),
    "bytes hex": configured(
        Annotated[bytes, Field(min_length=1, max_length=3)], val_json_bytes="hex"
    ),
    "Base64Bytes": Base64Bytes,
    "Base64Str": Base64Str,
    "Base64UrlBytes": Base64UrlBytes,
    "Base64UrlStr": Base64UrlStr,
    "str checked by a user": Annotated[
        str, AfterValidator(lambda value: value), Field(min_length=2)
    ],
    "Base64Str of config": configured(Base64Str, str_min_length=4, str_max_length=8),
    "Base64Bytes lengths": Annotated[
        bytes, Field(max_length=8), pydantic.EncodedBytes(encoder=pydantic.Base64Encoder)
    ],
    "pattern of a union": Annotated[str | int, Field(pattern="^a+$")],
    "stripped union": Annotated[
        str | int, StringConstraints(strip_whitespace=True, pattern="^ ?a+")
    ],
    "pattern of a str enum": Annotated[Literal["ab", "b"], Field(pattern="^a")],
    "SecretStr": SecretStr,
    "SecretStr lengths": Annotated[SecretStr, Field(min_length=2)],
    "SecretBytes": SecretBytes,
    "path": pathlib.Path,
    "pure path": pathlib.PurePosixPath,
    "uuid": uuid.UUID,
    "uuid1": UUID1,
    "uuid3": UUID3,
    "uuid4": UUID4,
    "uuid5": UUID5,
    "zone": zoneinfo.ZoneInfo,
}
PATTERNS = {
    f"pattern {one.pattern if isinstance(one, re.Pattern) else one}": text(one)
    for one in (
        r"^\d{3}$",
        r"\d+",
        r"^\w+$",
        r"^\W$",
        r"^\D\S\s$",
        r"^[\w.-]+@[\w-]+\.\w{2,}$",
        r"^.{3}$",
        r"^(?s).$",
        r"(?i)^abc$",
        r"(?i)^[a-d]x(?-i)Y$",
        r"^(?i:k)[^s]$",
        r"(?i)^[^k]$",
        r"(?x) ^ a b  # comment" + "\n c $",
        r"(?m)^a$",
        r"\Aab\z",
        r"\bfoo\b",
        r"^\Bx?",
        r"^a{2,}$",
        r"^[[:alpha:]]+$",
        r"^[^[:digit:]]$",
        r"^\x41\x{42}\u{43}\u0044$",
        r"^\p{Lu}\p{Ll}+$",
        r"^[\s\S]$",
        r"^[^\d\s]$",
        r"^(?P<year>\d{4})-(?P<month>\d\d)$",
        r"^(?:a|b|)$",
        r"^a+?b*?$",
        r"^[a\-z]$",
        r"^[\]\[]$",
        r"^[$^*]\$$",
        r"^/\.-_$",
        r"x",
        "^é$",
        r"^(ab|cd)+$",
        re.compile(r"^\d+\Z"),
        re.compile(r"B", re.IGNORECASE),
        re.compile(r"^a.b$", re.DOTALL),
    )
}
PYTHON_PATTERNS = {
    f"python pattern {one}": python_text(one)
    for one in (
        r"b",
        r"a$",
        r"^(?=.*\d)(?=.*[a-z]).{4,8}$",
        r"^(?!.*--)[a-z-]+$",
        r"^\w+\Z",
        r"(?<=a)b",
        r"(?i)^k$",
        r"^[^\W]$",
        r"^{$",
        r"^[\[]$",
        r"(?#comment)^a$",
        r"^a{,2}$",
        r"\bx\b",
    )
}
DAY = dt.date(2024, 2, 29)
NOON = dt.datetime(2024, 2, 29, 12, 0, 0)
FIRST = dt.datetime.min.replace(tzinfo=dt.timezone(dt.timedelta(hours=2)))
LAST = dt.datetime.max.replace(tzinfo=dt.timezone(dt.timedelta(hours=-2)))
"""Two moments that UTC cannot write."""
TIMES = {
    "date": dt.date,
    "date strict": Annotated[dt.date, Strict()],
    "date bounded": Annotated[dt.date, Field(ge=DAY, lt=dt.date(2025, 1, 1))],
    "date gt": Annotated[dt.date, Field(gt=DAY)],
    "date le": Annotated[dt.date, Field(le=DAY)],
    "date one": Annotated[dt.date, Field(ge=DAY, le=DAY)],
    "date bounded by texts": Annotated[dt.date, Field(ge="2024-02-29", lt="2025-01-01")],
    "past date": PastDate,
    "future date": FutureDate,
    "datetime": dt.datetime,
    "datetime strict": Annotated[dt.datetime, Strict()],
    "datetime aware": AwareDatetime,
    "datetime naive": NaiveDatetime,
    "past datetime": PastDatetime,
    "future datetime": FutureDatetime,
    "datetime ge naive": Annotated[dt.datetime, Field(ge=NOON)],
    "datetime bounded": Annotated[
        dt.datetime,
        Field(
            gt=NOON.replace(tzinfo=dt.timezone(dt.timedelta(hours=2))),
            le=NOON.replace(hour=13, tzinfo=UTC),
        ),
    ],
    "datetime le naive": Annotated[dt.datetime, Field(le=NOON)],
    "datetime lt micro": Annotated[dt.datetime, Field(lt=NOON.replace(microsecond=5))],
    "datetime ge micro": Annotated[dt.datetime, Field(ge=NOON.replace(microsecond=5))],
    "datetime ge seconds": Annotated[dt.datetime, Field(ge=5, lt="2024-02-29T12:00:00Z")],
    "datetime ge a day": Annotated[dt.datetime, Field(ge=DAY)],
    "datetime le after the last": Annotated[dt.datetime, Field(le=LAST)],
    "datetime gt before the first": Annotated[dt.datetime, Field(gt=FIRST)],
    "datetime from the start": Annotated[dt.datetime, Field(le=dt.datetime(1, 1, 1))],
    "time": dt.time,
    "time strict": Annotated[dt.time, Strict()],
    "time bounded": Annotated[dt.time, Field(ge=dt.time(9), lt=dt.time(17, 30))],
    "time bounded by a text": Annotated[dt.time, Field(ge="09:00")],
    "time le midnight": Annotated[dt.time, Field(le=dt.time(0))],
    "timedelta": dt.timedelta,
    "timedelta strict": Annotated[dt.timedelta, Strict()],
    "timedelta positive": Annotated[dt.timedelta, Field(gt=dt.timedelta(0))],
    "timedelta negative": Annotated[dt.timedelta, Field(lt=dt.timedelta(0))],
    "timedelta bounded": Annotated[
        dt.timedelta, Field(ge=dt.timedelta(minutes=-5), le=dt.timedelta(seconds=1.5))
    ],
    "timedelta of other bounds": Annotated[dt.timedelta, Field(ge="PT5S", lt=7.5)],
    "timedelta long": Annotated[dt.timedelta, Field(ge=dt.timedelta(days=100_000))],
    "datetime of a careful config": configured(dt.datetime, strict=True),
}
NETWORK = {
    kind.__name__: kind
    for kind in (
        AnyUrl,
        AnyHttpUrl,
        HttpUrl,
        FtpUrl,
        FileUrl,
        AnyWebsocketUrl,
        PostgresDsn,
        RedisDsn,
        MongoDsn,
        KafkaDsn,
        AmqpDsn,
        MySQLDsn,
        ipaddress.IPv4Address,
        ipaddress.IPv6Address,
        ipaddress.IPv4Network,
        ipaddress.IPv6Network,
        ipaddress.IPv4Interface,
        ipaddress.IPv6Interface,
        IPvAnyAddress,
        IPvAnyNetwork,
        IPvAnyInterface,
    )
} | {
    "strict IPv4Address": Annotated[ipaddress.IPv4Address, Strict()],
    "short IPv4Address": configured(ipaddress.IPv4Address, strict=True, str_max_length=9),
}


class Colour(enum.Enum):
    RED = "red"
    GREEN = "green"


class Number(enum.IntEnum):
    ONE = 1
    TWO = 2


class Mixed(enum.Enum):
    A = 1
    B = "x"
    C = 2.5
    D = None
    E = (1, 2)
    F = True


class Name(str, enum.Enum):  # noqa: UP042 - the older way is still common
    A = "a"
    B = 'b"\\\n'


class Flags(enum.IntFlag):
    A = 1
    B = 2


CHOICES = {
    "literal": Literal["a", "b"],
    "literal numbers": Literal[1, 2, -3, 0],
    "literal mixed": Literal[1, "a", None, True],
    "literal bool": Literal[True],
    "literal bytes": Union[Literal[b"a"], int],  # noqa: UP007
    "enum": Colour,
    "int enum": Number,
    "str enum": Name,
    "mixed enum": Mixed,
    "int flag": Flags,
    "strict enum": Annotated[Colour, Strict()],
    "enum values": configured(Colour, use_enum_values=True),
    "optional": Optional[int],  # noqa: UP045
    "union": int | str | None,
    "union left to right": Annotated[int | str, Field(union_mode="left_to_right")],
    "union of lists": list[int] | list[str],
    "none": None,
    "any": Any,
    "json value": pydantic.JsonValue,
    "annotated twice": Annotated[Annotated[int, Field(ge=0)], Field(le=5)],
}


class Frozen(BaseModel, frozen=True):
    a: int = 1
    b: tuple[str, ...] = ()


class FrozenAny(BaseModel, frozen=True):
    a: Any


class Thawed(BaseModel):
    a: int = 1


CONTAINERS = {
    "list": list[int],
    "list bounded": Annotated[list[int], Field(min_length=1, max_length=2)],
    "list of any": list,
    "sequence": typing.Sequence[int],
    "iterable": typing.Iterable[int],
    "tuple": tuple[int, str],
    "tuple empty": tuple[()],
    "tuple of any length": tuple[int, ...],
    "tuple bounded": Annotated[tuple[int, ...], Field(min_length=1, max_length=2)],
    "deque": collections.deque[int],
    "deque bounded": Annotated[collections.deque[int], Field(max_length=2)],
    "dict": dict[str, int],
    "dict of any": dict,
    "dict bounded": Annotated[dict[str, int], Field(min_length=1, max_length=2)],
    "dict of ints": dict[int, bool],
    "dict of positive ints": dict[PositiveInt, bool],
    "dict of small ints": dict[conint(ge=-3, le=120), bool],
    "dict of floats": dict[float, bool],
    "dict of bools": dict[bool, int],
    "dict of dates": dict[dt.date, int],
    "dict of uuids": dict[uuid.UUID, int],
    "dict of decimals": dict[Decimal, int],
    "dict of literals": dict[Literal["a", "b"], int],
    "dict of mixed literals": dict[Literal["a", 1], int],
    "dict of an enum": dict[Colour, int],
    "dict of an int enum": dict[Number, int],
    "dict of a mixed enum": dict[Mixed, int],
    "dict of a pattern": dict[text("^[a-z]+$"), int],
    "dict of lengths": dict[Annotated[str, Field(min_length=2, max_length=3)], int],
    "dict of tuples": dict[tuple[int, int], int],
    "dict of optional keys": dict[str | None, int],
    "dict of unions": dict[int | Colour, int],
    "mapping": typing.Mapping[str, int],
    "ordered dict": collections.OrderedDict[str, int],
    "default dict": collections.defaultdict[str, list[int]],
    "counter": collections.Counter[str],
    "nested": list[dict[str, tuple[int, list[str]]]],
    "strict nested": configured(list[dict[str, tuple[int, float]]], strict=True),
    "list of omitted errors": list[OnErrorOmit[int]],
}
SETS = {
    "set": set[int],
    "set of str": set[str],
    "set of bools": set[bool],
    "set of an enum": set[Colour],
    "set of any": set,
    "set of two": Annotated[set[int], Field(min_length=2, max_length=3)],
    "set of two letters": Annotated[set[Literal["a", "b", "c"]], Field(min_length=2)],
    "set of two numbers": Annotated[set[Number], Field(min_length=2)],
    "set of two literals": Annotated[set[Literal[0, 1, 2]], Field(min_length=2, max_length=2)],
    "set of two bools": Annotated[set[bool], Field(min_length=2)],
    "set of two or none": Annotated[set[int | None], Field(min_length=2, max_length=2)],
    "set of two tuples": Annotated[set[tuple[Colour, bool]], Field(min_length=2, max_length=2)],
    "dict of two numbers": Annotated[dict[Number, int], Field(min_length=2)],
    "set of two dates": Annotated[set[dt.date], Field(min_length=2)],
    "set of lists": set[list[int]],
    "set of models": set[Thawed],
    "set of frozen models": set[Frozen],
    "set of tuples of any": set[tuple],
    "set of JSON values": set[pydantic.JsonValue],
    "set of a union with any": set[tuple[int, Any] | None],
    "set of what a user makes": set[Annotated[list[int], AfterValidator(tuple)]],
    "set of frozen models of any": set[FrozenAny],
    "set of hashables": set[typing.Hashable],
    "set of tuples": frozenset[tuple[int, bool]],
    "set of sets": set[frozenset[bool]],
    "set of a union": set[int | str | None],
    "frozen set": frozenset[float],
    "abstract set": typing.AbstractSet[int],
}


class Plain(BaseModel):
    """Documented."""

    a: int
    b: str = "x"
    c: float | None = None
    d: list[int] = Field(default_factory=list)
    e: int = Field(description="five", examples=[5], ge=0, deprecated=True)


class Forbidding(Plain, extra="forbid"):
    pass


class Allowing(Plain, extra="allow"):
    pass


class AllowingInts(BaseModel, extra="allow"):
    __pydantic_extra__: dict[str, int]
    a: int = Field(alias="b")


class Aliased(BaseModel):
    x: int = Field(alias="X")
    y: int = Field(0, validation_alias=AliasChoices("why", AliasPath("more", "y")))
    z: int = Field(validation_alias=AliasPath("list", 1))
    w: int = Field(validation_alias=AliasPath("list", 0))
    v: int = Field(0, validation_alias=AliasPath("deep", "er", "v"))
    u: int = Field(0, serialization_alias="U")


class AliasedOpen(Aliased, extra="allow", populate_by_name=True):
    pass


class AliasedForbidding(Aliased, extra="forbid"):
    pass


class ByName(BaseModel, populate_by_name=True, extra="allow"):
    x: int = Field(alias="X")
    y: int = Field(3, alias="Y")


class OnlyByName(BaseModel, validate_by_alias=False, validate_by_name=True, extra="forbid"):
    x: int = Field(alias="X")


class Generated(BaseModel):
    model_config = ConfigDict(alias_generator=lambda name: name.title())
    some_name: int


class SharedAlias(BaseModel):
    a: int = Field(alias="k")
    b: str | int = Field("", validation_alias=AliasChoices("b", "k"))


class Swapped(BaseModel, populate_by_name=True):
    a: int = Field(alias="b")
    b: str = Field(alias="a")


class StrictNumbers(BaseModel, strict=True):
    a: int
    b: float
    h: Decimal
    j: dict[int, bool]
    e: tuple[int, bool]


class StrictTimes(BaseModel, strict=True):
    c: dt.datetime
    d: uuid.UUID
    t: dt.timedelta | None


class StrictOthers(BaseModel, strict=True):
    f: set[bool]
    g: Colour
    i: bytes
    k: ipaddress.IPv4Address
    m: Thawed


class StrictPaths(BaseModel, strict=True):
    n: pathlib.Path
    o: HttpUrl
    p: Mixed


class Configured(BaseModel):
    model_config = ConfigDict(
        str_min_length=1, str_max_length=3, str_strip_whitespace=True, allow_inf_nan=False
    )
    a: str
    b: list[str]
    c: float
    d: Thawed


class Computed(BaseModel):
    a: int

    @computed_field
    @property
    def b(self) -> int:
        return self.a + 1


class Validated(BaseModel):
    a: int
    b: Annotated[int, AfterValidator(lambda v: v), BeforeValidator(lambda v: v)]

    @field_validator("a")
    @classmethod
    def same(cls, value: int) -> int:
        return value

    @model_validator(mode="after")
    def whole(self) -> Validated:
        return self

    @model_validator(mode="before")
    @classmethod
    def first(cls, data: Any) -> Any:
        return data


class ValidatedDefaults(BaseModel, validate_default=True):
    a: int = "no"  # type: ignore[assignment]
    b: int = 3
    c: int = Field(default_factory=lambda: "no")  # type: ignore[assignment,arg-type]


class Extra(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [{"a": 1}], "minProperties": 1})
    a: int = Field(ge=0, json_schema_extra={"maximum": 9, "x-unit": "m"})
    b: str = Field("", json_schema_extra=lambda schema: schema.update(enum=["u", "v"]))
    c: int = Field(5, ge=3, json_schema_extra={"minimum": 0, "type": "integer"})


def _forget(schema: dict[str, Any], cls: type) -> None:
    schema.pop("required", None)
    schema["properties"].pop("a")


class Forgetful(BaseModel):
    model_config = ConfigDict(json_schema_extra=_forget)
    a: int
    b: int


class Hooked(BaseModel):
    a: Annotated[Any, WithJsonSchema({"type": "integer"})]
    b: Annotated[int, WithJsonSchema({"minimum": 3})]
    c: Annotated[dt.date, BeforeValidator(lambda v: DAY), WithJsonSchema({"const": "today"})]

    @classmethod
    def __get_pydantic_json_schema__(cls, core: Any, handler: Any) -> Any:
        schema = handler(core)
        schema = handler.resolve_ref_schema(schema)
        schema["maxProperties"] = 3
        return schema


class Skipping(BaseModel):
    a: int | SkipJsonSchema[None] = None
    b: SkipJsonSchema[int] = 3


class Excluded(BaseModel):
    a: int = Field(exclude=True)
    b: int = Field(repr=False, frozen=True)


class Impossible(BaseModel, arbitrary_types_allowed=True):
    a: int
    b: re.Match | None = None  # type: ignore[type-arg]
    c: type = int
    d: typing.Callable[[], int] = int


class Node(BaseModel):
    value: int
    children: list[Node] = []


class Linked(BaseModel):
    next: Linked | None = None


class Ping(BaseModel):
    pong: Pong | None = None


class Pong(BaseModel):
    ping: Ping | None = None
    pings: dict[str, Ping] = {}


class Pair(BaseModel, Generic[T]):
    first: T
    second: T | None = None


class Cat(BaseModel):
    kind: Literal["cat", "kitten"] = "cat"
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    breed: Colour


class Fish(BaseModel):
    kind: Literal["fish"] = Field("fish", alias="Kind")


class Owner(BaseModel):
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]
    pets: list[Annotated[Cat | Dog, Field(discriminator="kind")]] = []


class One(BaseModel):
    number: Literal[1] = 1
    colour: Literal[Colour.RED] = Colour.RED


class Two(BaseModel):
    number: Literal[2] = 2
    colour: Literal["blue"] = "blue"


class Aliased1(BaseModel):
    kind: Literal["one"] = Field("one", alias="Kind")


class Aliased2(BaseModel, populate_by_name=True):
    kind: Literal["two"] = Field("two", alias="Kind")


def tag_of(value: Any) -> str:
    if isinstance(value, dict):
        return "dog" if value.get("kind") == "dog" else "cat"
    return "text"


Tree = TypeAliasType("Tree", "dict[str, Tree] | int")


class IntRoot(RootModel[int]):
    pass


class ListRoot(RootModel[list[Thawed]]):
    root: list[Thawed] = Field(max_length=2)


MODELS = {
    kind.__name__: kind
    for kind in (
        Plain,
        Forbidding,
        Allowing,
        AllowingInts,
        Aliased,
        AliasedOpen,
        AliasedForbidding,
        ByName,
        OnlyByName,
        Generated,
        SharedAlias,
        Swapped,
        StrictNumbers,
        StrictTimes,
        StrictOthers,
        StrictPaths,
        Configured,
        Computed,
        Validated,
        ValidatedDefaults,
        Extra,
        Forgetful,
        Hooked,
        Skipping,
        Excluded,
        Impossible,
        Node,
        Linked,
        Ping,
        Cat,
        Owner,
        IntRoot,
        ListRoot,
        Frozen,
    )
} | {
    "generic": Pair[int],
    "generic nested": Pair[Pair[str]],
    "generic of a union": Pair[int | Colour],
    "list of models": list[Thawed],
    "dict of models": dict[str, Cat],
    "optional model": Cat | None,
    "plain union of models": Cat | Dog,
    "numbers as tags": Annotated[One | Two, Field(discriminator="number")],
    "an enum's value as a tag": Annotated[One | Two, Field(discriminator="colour")],
    "aliased tags": Annotated[Aliased1 | Aliased2, Field(discriminator="kind")],
    "nested tags": Annotated[Annotated[Cat | Dog, Field(discriminator="kind")] | Aliased2, Field()],
    "called tags": Annotated[
        Annotated[Cat, Tag("cat")] | Annotated[Dog, Tag("dog")] | Annotated[str, Tag("text")],
        Discriminator(tag_of),
    ],
    "root as a key": dict[IntRoot, int],
}


@dataclasses.dataclass
class Standard:
    a: int
    b: str = "x"
    c: list[int] = dataclasses.field(default_factory=list)
    d: int = dataclasses.field(default=0, init=False)


@dataclasses.dataclass(frozen=True)
class Nested:
    inner: Standard
    other: Nested | None = None


@pydantic.dataclasses.dataclass(config=ConfigDict(extra="forbid", str_max_length=2))
class Checked:
    a: str
    b: int = Field(3, alias="B", ge=0)
    c: dataclasses.InitVar[int] = 0
    d: str = Field("", kw_only=True)


@pydantic.dataclasses.dataclass(config=ConfigDict(extra="allow"))
class Open:
    a: int


class Movie(TypedDict):
    title: str
    year: NotRequired[int]


class Partial(TypedDict, total=False):
    title: Required[str]
    year: int


class Closed(TypedDict):
    __pydantic_config__ = ConfigDict(extra="forbid", json_schema_extra={"title": "closed"})
    a: int


class OpenDict(TypedDict):
    __pydantic_config__ = ConfigDict(extra="allow")  # type: ignore[misc]
    a: int


class Point(NamedTuple):
    x: int
    y: int = 0
    label: str | None = None


class Line(NamedTuple):
    start: Point
    end: Point


class Optionals(BaseModel):
    a: int = 0
    b: Literal["x", 'y"'] = "x"
    c: bool = True


class Mixture(BaseModel):
    a: int = 0
    b: list[str]
    c: None = None
    d: tuple[int, float]


class Deferred(BaseModel, defer_build=True):
    a: int
    b: Colour | None = None


def called(a: int, b: str = "x", *, c: bool = False) -> int:
    return a


CLASSES = {
    kind.__name__: kind
    for kind in (
        Standard,
        Nested,
        Checked,
        Open,
        Movie,
        Partial,
        Closed,
        OpenDict,
        Point,
        Line,
    )
}
CLASSES |= {
    "recursive alias": Tree,
    "a call by position": validate_call(lambda a, b=1: None),
    "a call by name": validate_call(called),
    "built later": Deferred,
    "json of anything": Json,
    "json of an int": Json[conint(ge=-5, le=300)],
    "json of lists": Json[Annotated[list[int | None], Field(max_length=3)] | dict[str, str]],
    "json of a model": Json[Mixture],
    "json of optional fields": Json[Optionals | float],
    "json in a model": list[Json[Thawed]],
}

KINDS = {
    "numbers": NUMBERS,
    "strings": STRINGS,
    "predicates": PREDICATES,
    "patterns": PATTERNS,
    "python patterns": PYTHON_PATTERNS,
    "times": TIMES,
    "network": NETWORK,
    "choices": CHOICES,
    "containers": CONTAINERS,
    "models": MODELS,
    "classes": CLASSES,
    "sets": SETS,
}
CASES = {name: kind for kinds in KINDS.values() for name, kind in kinds.items()}
"""Every type, by a name for the test's id."""
