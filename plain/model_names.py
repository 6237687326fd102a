"""What language models are called, and who makes them: one list for judges' files, raters' names and tools' records.

Words by which a report gives its maker away are another thing, since prose spells them otherwise (annotation/leaks).
"""

from collections.abc import Mapping

# maker -> beginnings of its models' names that no person, and hardly a word, is called by
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "openai": ("gpt", "chatgpt"),
    "anthropic": (),
    "google": ("gemini",),
    "meta": ("llama",),
    "mistral": ("mistral", "mixtral", "ministral", "magistral"),
    "alibaba": ("qwen", "qwq", "tongyi", "通义", "千问"),
    "deepseek": ("deepseek",),
    "xai": ("grok",),
    "zhipu": ("chatglm", "智谱"),
    "moonshot": (),
    "cohere": (),
    "microsoft": (),
    "amazon": (),
    "bytedance": ("doubao", "豆包"),
    "baidu": ("文心一言",),
    "tencent": ("hunyuan", "混元"),
    "nvidia": ("nemotron",),
    "lmsys": ("vicuna",),
}
# maker -> names of its models that are a word's or a person's too, as they begin a model's whole name
SHARED: Mapping[str, str] = {
    "openai": r"o[1345](?:-|$)",
    "anthropic": "claude",
    "google": "gemma|palm-?2",
    "zhipu": "glm",
    "moonshot": "kimi",
    "cohere": "command",
    "microsoft": "phi-",
    "amazon": "nova-",
    "baidu": r"ernie-",
}
PERSONS = ("gemma", "kimi", "ernie")  # people's names, and a model's where a version stands behind
ANY_FAMILY = "|".join(name for names in FAMILIES.values() for name in names)
BEGINNINGS: Mapping[str, str] = {
    maker: "|".join(filter(None, (*names, SHARED.get(maker), maker))) for maker, names in FAMILIES.items()
}
