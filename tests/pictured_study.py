"""Reports with figures, a wide table, long code and a diagram's source, by three systems, for pages that show them."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from tests.small_study import PROTOCOL

SHOWN = PROTOCOL.replace("[answers]", 'reports = {images = "show", unresolved_flags = "allow"}\n[answers]')
CODE = "\n".join(f"level[{hour:2}] = mean + spring * cos({hour} * SPEED)  # metres" for hour in range(14))
COLUMNS = (
    "Place",
    "Coast",
    "Mean range",
    "Spring range",
    "Neap range",
    "Highest",
    "Lowest",
    "Since",
    "Gauge",
    "Keeper",
)
ROW = "| {} | Atlantic, open to the south-west | 11.7 m | 14.5 m | 9.8 m | 16.3 m | 8.9 m | 1894 | pressure | the harbour |"
TABLE = "\n".join(
    [
        f"| {' | '.join(COLUMNS)} |",
        "|" + " --- |" * len(COLUMNS),
        *(ROW.format(place) for place in ("Fundy", "Severn", "Ems")),
    ]
)
REPORT = """# Tides

The sea rises and falls twice a day [1]. What the moon does to it is seen in a record of one month.

![Figure 1: height above mean level by day [1]; spring tides follow full and new moon](chart.png)

Where the coast is a funnel, the range grows towards its end. Height $h$ is a sum over the moon's and the sun's tide,

$$h(t) = a_m \\cos\\left(\\frac{{2\\pi t}}{{12.42}}\\right) + a_s \\cos\\left(\\frac{{2\\pi t}}{{12}}\\right).$$

{table}

## How it is computed

```python
{code}
```

A station in the open sea, ![beside this one](wide.png), moves by less than a metre.

```mermaid
graph LR; moon --> tide; sun --> tide
```

## References

[1] https://example.org/tides
"""


def draw(path: Path, *, inches: tuple[float, float], dots: int, colour: str) -> None:
    """A line over a month."""
    figure = Figure(figsize=inches, dpi=dots, layout="tight")
    axes = figure.subplots()
    axes.plot([day % 14 + (day % 3) / 2 for day in range(60)], color=colour)
    axes.set_xlabel("day")
    axes.set_ylabel("metres")
    figure.savefig(path, metadata={"Software": "drawn by nobody who may be named"})


def write_pictured(root: Path) -> Path:
    """Each system draws in its own size and colour."""
    looks = {"alpha": ((8, 4), 300, "#0072B2"), "beta": ((5, 5), 100, "#D55E00"), "gamma": ((6, 2), 200, "#009E73")}
    for system, (inches, dots, colour) in looks.items():
        folder = root / system
        folder.mkdir(parents=True)
        (folder / "tides.md").write_text(REPORT.format(table=TABLE, code=CODE), encoding="utf-8")
        draw(folder / "chart.png", inches=inches, dots=dots, colour=colour)
        draw(folder / "wide.png", inches=(9, 1.4), dots=90, colour=colour)
    return root


ABROAD = {  # a report in Chinese, and one from right to left: caption, formulas, table, code
    "zh": (
        "潮汐",
        """# 潮汐

海水每天涨落两次 [1]。月亮对海水的作用，从一个月的记录中看得最清楚：大潮在朔望之后，小潮在两弦之后。

![图 1：一个月内每天的水位（高于平均海面，米）[1]；大潮随朔望而来](chart.png)

潮差可以写成 $h(t) = \\sum_i a_i \\cos(\\omega_i t + \\varphi_i)$，其中主要的分潮是

$$h(t) \\approx a_{M_2} \\cos\\left(\\frac{2\\pi t}{12.42}\\right) + a_{S_2} \\cos\\left(\\frac{2\\pi t}{12}\\right)$$

| 地点 | 海岸 | 平均潮差 | 大潮潮差 | 小潮潮差 | 自何年起 | 验潮仪 | 由谁看管 |
| --- | --- | --- | --- | --- | --- | --- | --- |
| 芬迪湾 | 大西洋，向西南敞开 | 11.7 米 | 14.5 米 | 9.8 米 | 1894 | 压力式 | 港务局 |
| 塞文河口 | 大西洋 | 8.9 米 | 12.3 米 | 6.5 米 | 1901 | 浮子式 | 港务局 |

海岸像漏斗的地方，越往里潮差越大。

## 参考文献

[1] https://example.org/tides
""",
    ),
    "ar": (
        "المد والجزر",
        """# المد والجزر

يرتفع البحر وينخفض مرتين في اليوم [1]. وما يفعله القمر بالماء يظهر في سجل شهر واحد: يأتي المد الأعلى بعد البدر والمحاق.

![الشكل 1: الارتفاع فوق المتوسط بالأمتار يومًا بعد يوم [1]؛ المد الأعلى يتبع البدر](chart.png)

يُكتب الارتفاع $h(t) = \\sum_i a_i \\cos(\\omega_i t + \\varphi_i)$ وأهم حدوده

$$h(t) \\approx a_{M_2} \\cos\\left(\\frac{2\\pi t}{12.42}\\right) + a_{S_2} \\cos\\left(\\frac{2\\pi t}{12}\\right)$$

| المكان | الساحل | متوسط المدى | أعلى مدى | أدنى مدى | منذ | المقياس | من يحفظه |
| --- | --- | --- | --- | --- | --- | --- | --- |
| خليج فندي | المحيط الأطلسي، مفتوح نحو الجنوب الغربي | 11.7 م | 14.5 م | 9.8 م | 1894 | ضغط | الميناء |
| مصب سيفرن | المحيط الأطلسي | 8.9 م | 12.3 م | 6.5 م | 1901 | عوامة | الميناء |

حيث يضيق الساحل كالقمع يكبر المدى نحو نهايته.

## المراجع

[1] https://example.org/tides
""",
    ),
}


def write_abroad(root: Path, language: str) -> Path:
    """Two systems' report on one topic in `language`, each with a chart of its own size and colour."""
    title, report = ABROAD[language]
    for system, inches, colour in (("alpha", (6.4, 4.8), "#0072B2"), ("beta", (8, 4), "#D55E00")):
        (root / system).mkdir(parents=True)
        (root / system / "tides.md").write_text(report, encoding="utf-8")
        draw(root / system / "chart.png", inches=inches, dots=100, colour=colour)
    (root / "topics.csv").write_text(f"topic,title,prompt,language\ntides,{title},,{language}\n", encoding="utf-8")
    return root
