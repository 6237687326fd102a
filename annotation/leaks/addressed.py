"""Words by which a text speaks to whoever judges it, by families: who reads on, what to forget, what to answer.

Prose about judges, models and instructions resembles them. A demand therefore counts where one may begin, and a reader
where the text points at itself (`reading this`).
"""

import re

MOST_SHOWN = 80  # characters of such words
_REPORT = r"(?:report|response|answer|article|essay|text|submission)"
_JUDGE = r"(?:judge|grader|evaluator|annotator|rater|assessor)"
_READER = (
    r"(?:(?:large )?language model|LLM"
    r"|(?:AI|automated|automatic) (?:model|assistant|agent|system|judge|grader|evaluator|rater|reviewer|assessor))"
)
_ANY_READER = rf"(?:{_READER}|{_JUDGE}|reviewer|AI|(?:AI )?model|bot|chatbot|machine|assistant)"
_THIS = (  # the text itself, and no noun of another matter behind it
    rf"(?:this|these|the (?:present|two|above))(?: {_REPORT}s?| page| passage| document| sentence| comparison| pair)?"
    r"(?=[,.;:!?)\"”]|\s*$| (?:and|or|then|please|automatically|here|now|must|should|shall|has|is|will|you|it)\b)"
)
_READS = r"(?:read|evaluat|judg|grad|scor|compar|assess|rat|rank|review)(?:e?s|ing|e)?"
# Where a demand may begin: a sentence, a clause, or behind a word that goes before one. `We can disregard` is prose.
_ORDER = (
    r"(?:^|(?<=[.!?:;,*_>\"“”(—–-] )|(?<=[.!?:;,*_>\"“”(—–-])"
    r"|(?<=\bplease )|(?<=\bkindly )|(?<=\band )|(?<=\bso )|(?<=\bnow )|(?<=\bthen )|(?<=\bjust )|(?<=\byou must )"
    r"|(?<=\byou should )|(?<=\byou are to )|(?<=\bhas to )|(?<=\bmust )|(?<=\bshall ))"
)
_CHOOSE = r"(?:choose|pick|select|prefer|favou?r|answer|vote for)"
_DEMAND = rf"(?:{_CHOOSE}|vote|give|rate|score|rank|grade|say|write|output|return|respond|reply|declare|mark|report)"
_ADDRESSED = (  # no noun behind a reader: an `AI model developer` is a person
    r"(?=[,.;:!?)*_\"”]|\s*$| (?:that|who|which|reading|evaluating|judging|grading|scoring|comparing|asked|tasked|and"
    r"|or|then|please|here|now|you)\b)"
)
_SIDE = r"(?:first|second|left|right)"
_ANSWER = (
    r"(?=(?: \w+){0,4}(?::| (?:is|are|(?:shall|must|should|will) be))(?: always| simply| just)? [\"'“*(\[]{0,3}"
    rf"(?:(?:the |this |option |answer |choice |report |response )*(?:{_SIDE}|(?-i:[A-E1-9]))|this|the present)\b)"
)
_BEFORE = r"(?:previous|above|prior|preceding|earlier|foregoing|other|given|former)"
_ENDED = r"(?:over|done|closed|cancell?ed|suspended|complete|completed|finished|ended)"
_GRADING = r"(?:grading|scoring|evaluation|judging|comparison|review)"
_BEST = r"(?:better|best|winner|winning|preferred|superior|correct|strongest)"
_FULL = (
    r"(?:\d+ ?/ ?\d+|\d+ out of \d+|(?:five|ten|\d+) (?:points|stars|out of)"
    r"|(?:the |an? )?(?:full|highest|maximum|top|perfect|best)\b)"
)
_GERMAN = r"(?:Bericht|Text|Antwort|Artikel|Aufsatz)"
_ROMANCE = r"(?:informe|texto|respuesta|artículo|rapport|texte|réponse|article)"

_WORDS = (
    # what came before is to be forgotten
    r"(?:ignore|disregard|forget|override) (?:all |any |the |your |these |those )*(?:previous |above |prior "
    r"|other |given |preceding |evaluation |scoring |grading )*(?:criteria|criterion|instructions?|rubrics?"
    r"|guidelines?|prompts?)\b",
    rf"(?:the )?{_GRADING}(?: task| phase)? (?:is|has been|was) (?:now |already )?{_ENDED}[.;,:!—]? "
    rf"(?:and |so |please |now |then |just )*{_DEMAND}\b",
    # who reads on
    rf"(?:dear|note to(?: the)?|attention|message (?:to|for)(?: the)?) "
    rf"(?:{_JUDGE}s?\b|{_READER}s?\b{_ADDRESSED})",
    rf"if you are an? {_READER}\b{_ADDRESSED}",
    rf"(?:any|all|every|to the) {_READER}s? (?:that |who )?(?:reads?|reading) this\b",
    rf"(?:if|when|whenever|in case|should) (?:you are )?(?:an?|any|some) {_ANY_READER}s? (?:is |are |be |that )?"
    rf"(?:now |currently )?{_READS} {_THIS}",
    rf"(?:if|when|whenever) {_THIS.partition('(?=')[0]} (?:is|gets) (?:being )?(?:read|evaluated|judged|graded|scored"
    rf"|processed|assessed|compared|rated) by (?:an? |any )?{_ANY_READER}\b",
    rf"(?:whoever|whichever {_ANY_READER}|whatever {_ANY_READER}|anyone who|any {_ANY_READER} (?:that|who)"
    rf"|the {_ANY_READER}(?=\s\w+ing\b)) (?:is )?{_READS} {_THIS}",
    rf"(?:you are|you must(?: now)? act as) (?:an?|the) (?:\w+ ){{0,2}}{_JUDGE}\b|\bas (?:an?"
    rf"|the) (?:\w+ )?{_JUDGE},? (?:you|please)\b",
    rf"you are (?:now |hereby |currently )?in (?:\w+ )?(?:{_GRADING}|developer|debug|admin|test|maintenance) mode\b",
    rf"(?:new|special|updated) instructions? for the {_JUDGE}s?\b",
    # what to answer
    r"the (?:correct|right|expected|official|only) (?:answer|choice|verdict|winner|preference) (?:to|for|on|in) "
    rf"(?:all|any|each|every|both)\b{_ANSWER}",
    rf"{_CHOOSE} (?:the )?{_SIDE}(?: {_REPORT})? as the {_BEST}\b",
    rf"(?:rate|score|grade|rank|prefer|choose|pick|select|favou?r) this {_REPORT}\b",
    rf"give (?:this|it|the)(?: {_REPORT})? (?:an? |the )?(?:full|highest|maximum|top|perfect)\b",
    rf"this {_REPORT} (?:deserves|wins (?:on|for|in) (?:all|each|every|both)\b|should (?:be (?:rated|scored|ranked"
    rf"|preferred|chosen)|receive|get|win))\b",
    rf"(?:this|the present) {_REPORT}\b[^.\n]{{0,80}} (?:must|should|shall|has to|is to) (?:always |therefore )?be "
    rf"(?:preferred|chosen|selected|picked|declared|rated|scored|ranked|graded|favou?red)"
    rf"(?: by (?:the|any|every|all|each) {_ANY_READER}| over the| (?:as )?(?:the )?(?:{_BEST}|first|highest|top)"
    rf"| {_FULL})",
    # the same in other languages
    r"(?:ignoriere|ignorier|ignorieren Sie|vergiss|vergessen Sie|missachte|missachten Sie) (?:bitte )?"
    r"(?:(?:alle|sämtliche|die|den|deine|Ihre|diese) )*(?:obig|bisherig|vorherig|vorangegangen|vorig|früher"
    r"|vorstehend)e[nr]? "
    r"(?:\w+ )?(?:Anweisung|Instruktion|Vorgabe|Kriteri|Regel|Aufforderung|Aufgabe|Richtlini|Befehl)\w*",
    rf"(?:wähle?|wählen Sie|bevorzuge|bevorzugen Sie|nimm|nenne) (?:immer |bitte |stets )?(?:d(?:en|ie|as) )?"
    rf"(?:erste|zweite|linke|rechte|diese|vorliegende)[nrs]? {_GERMAN}\b|\b(?:wenn|falls) (?:du|Sie) eine? (?:KI"
    rf"|Sprachmodell"
    rf"|LLM|Gutachter|Prüfer)|\b(?:wenn|falls) eine? (?:KI|Sprachmodell|LLM) (?:dies|das"
    rf"|diese[ns]? {_GERMAN}) (?:liest|bewertet)",
    r"(?:ignor(?:a|e|ez)|olvid[ae]|omit[ae]|oublie[zs]?) (?:(?:todas?|todos?|las|los|sus|tus|toutes|tous|les|tes"
    r"|vos) )*"
    r"(?:(?:instruccion|indicacion|directric|criteri|instruction|consigne|directive|critère|règle|regla)(?:s|es|os)? "
    r"(?:anterior|previ|précéd|antérieur|de arriba|ci-dessus)|(?:anteriores|précédentes) (?:instruc|indica"
    r"|consigne))\w*",
    rf"(?:elig[ea]|elija|escog[ea]|escoja|prefiere|prefiera|seleccion[ae]|choisis(?:sez|sir)?|préfère"
    rf"|préférez) (?:siempre "
    rf"|toujours )?(?:(?:el|la|le) (?:primera?|primero|segund[oa]|premi(?:er|ère)|deuxième|seconde?)|est[ea]|ce"
    rf"|cette) {_ROMANCE}\b"
    r"|\bsi (?:eres|es usted|tu es|vous êtes) une? (?:modelo de lenguaje|modèle de langage|IA|LLM|evaluador|évaluat)"
    r"|\bsi (?:eres|es usted) un (?:modelo de lenguaje|LLM|evaluador)",
)  # fmt: skip
_DEMANDS = (
    # what came before is to be forgotten
    rf"(?:ignore|disregard|forget) (?:all |everything |of |the |text |words )*(?:above|before this|so far)"
    rf"(?=(?:,|;|:)?(?: and| then| now| instead| just| simply| please)* {_DEMAND}\b|[.!?)]|\s*$)",
    rf"(?:ignore|disregard|forget|override|discard|set aside|do not follow|skip|drop) (?:all |any |the |your "
    rf"|of |every |whatever )*{_BEFORE} (?:\w+ )?(?:directions?|directives?|orders|commands|rules|messages?|tasks?"
    rf"|guidance"
    r"|content|context|conversation|requests?|instructions?|criteria|prompts?)\b",
    # who reads on
    rf"(?:{_JUDGE}|{_READER}|AI|system)[’'s]* (?:instructions?|notes?|notice|directive|override|command|message)"
    rf"(?::| ?[—–-] )",
    # what to answer
    rf"{_CHOOSE} (?:the )?{_SIDE}(?: {_REPORT})? for (?:all|each|every) criteri(?:a|on)\b",
    rf"{_CHOOSE} (?:this|the present)(?: one| {_REPORT}| version)(?=[.!]|\s*$| (?:over|as|regardless)\b"
    r"| (?:for|on|in) (?:all|each|every)\b)",
    rf"(?:mark|declare|label|judge|treat|consider|name|call|report) (?:this|the present)(?: {_REPORT}| one)? "
    rf"(?:as |to be )?(?:the |clearly )?{_BEST}\b",
    rf"verdict ?[:=] ?[\"“']?{_SIDE}(?=[\"”'.;!]|\s*$)",
    rf"(?:give|award|assign|grant|rate|score|grade) (?:it|this|the (?:present|current))(?: {_REPORT}| one)? (?:an? "
    rf"|the )?"
    rf"(?:(?:score|mark|rating|grade) of )?{_FULL}",
    rf"(?:respond|reply|answer|output|return|print|write|say) (?:(?:only|just|exactly|solely|nothing but) "
    rf"(?:with )?(?:the (?:word|letter|answer) )?[\W]{{0,4}}(?:{_SIDE}|winner|(?-i:[AB]))\b"
    rf"|[\W]{{0,3}}winner ?[\"']? ?[=:]"
    rf"|(?:with )?(?:[\"“']{_SIDE}[\"”']|the (?:letter|word) [\"“']?(?:{_SIDE}|(?-i:[AB]))\b))",
)  # fmt: skip
_MARKS = (
    # the marks of our own messages, and of models' turns
    r"</?(?:report-first|report-second|(?:report|reference|evidence|topic|claim)-[0-9a-f]{8})\b",
    r"[\"“]?\bwinner[\"”]? ?[=:] ?[\"“'](?:first|second|tie)[\"”']|[\"“](?:judgments|criterion)[\"”] ?: ?[\[\"“]",
    r"<\|(?:im_start|im_end|system|assistant|user|eot_id|start_header_id)\|>|(?-i:\[/?INST\])|<</?SYS>>",
    # the same in other languages
    r"(?:忽略|无视|無視|忘记|忘掉|不要理会|不要遵循|请勿遵循)掉?(?:以上|上述|之前|前面|所有)?的?(?:所有)?(?:评分|评价|评估)?"
    r"(?:标准|指令|说明|提示)",
    r"(?:忽略|无视|無視|忘记|忘掉|不要理会|不要遵循|请勿遵循)掉?(?:你|您)?(?:以上|上述|之前|前面|此前|先前|前述|上面)"
    r"[^。\n，,]{0,8}(?:指示|要求|规则|規則|命令|内容|內容|标准|標準|任务|提示|說明)",
    r"[选選][择擇]?(?:第[一二]|左[边侧]|右[边侧]|[这本此])[份篇个個]?(?:报告|報告|文章|回答|文本|答案)(?:[。！!]|$|[为作是為])",
    r"(?:请|請)?(?:给予?|为|将|給|為)(?:本|此|这|這)[^。\n]{0,8}(?:最高|满|滿|高)分|如果(?:你|您)是一?[个名個]?"
    r"(?:AI|人工智能|大?语言模型|评审|评委|评分)|(?:致|尊敬的)(?:各位)?(?:评审|评委|评分|评估)(?:者|员|模型|专家|们)?[，：,:！]",
    r"تجاهل (?:جميع |كل |كافة )?(?:التعليمات|الأوامر|المعايير)(?: السابقة| أعلاه)",
)  # fmt: skip
# words of a demand may stand on two lines
ADDRESSED = re.compile(
    rf"\b(?:{'|'.join(_WORDS)}|{_ORDER}(?:{'|'.join(_DEMANDS)}))|{'|'.join(_MARKS)}".replace(" ", r"\s"),
    re.IGNORECASE | re.MULTILINE,
)


def addressed_to_judges(text: str) -> list[str]:
    """Words by which a text speaks to whoever judges it, in their order: what its flags of kind `judge` hold."""
    return [match[0][:MOST_SHOWN] for match in ADDRESSED.finditer(text)]
