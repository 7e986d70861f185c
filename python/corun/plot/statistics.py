"""Student's t, for intervals as in experiments/intervals/README.md."""
import math

import numpy


def half_width(values):
    """Half of the 95 % interval of the mean (Student's t); NaN below three values."""
    values = numpy.asarray(values, float)
    n = len(values)
    if n < 3:
        return math.nan
    return t975(n - 1) * values.std(ddof=1) / math.sqrt(n)


def t975(freedom):
    """The 0.975 quantile of Student's t: bisection of its distribution function."""
    half = freedom / 2

    def beyond(t):  # P(T > t): half the regularised incomplete beta function, by Lentz's continued fraction
        x = freedom / (freedom + t * t)
        front = math.exp(math.lgamma(half + 0.5) - math.lgamma(half) - math.lgamma(0.5)
                         + half * math.log(x) + 0.5 * math.log1p(-x))
        if x < (half + 1) / (half + 2.5):
            return front * _beta_fraction(half, 0.5, x) / half / 2
        return (1 - front * _beta_fraction(0.5, half, 1 - x) / 0.5) / 2

    low, high = 1.9, 13.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if beyond(middle) > 0.025 else (low, middle)
    return (low + high) / 2


def _beta_fraction(a, b, x):
    tiny = 1e-300
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    value = d
    for m in range(1, 300):
        for step in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                     -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d = 1 + step * d
            d = 1 / (d if abs(d) > tiny else tiny)
            c = 1 + step / c
            c = c if abs(c) > tiny else tiny
            value *= d * c
        if abs(d * c - 1) < 1e-14:
            break
    return value
