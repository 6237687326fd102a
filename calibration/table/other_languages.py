"""What columns are called in German, Chinese, Spanish and French: words that have one reading as a part of labels.csv.

A word of several readings is in no list: German and French `Note` is a grade and English `note` a remark, `Antwort` and
`回答` are what a system or what a rater said, `Kosten` may be in any currency, `évaluation` and `motif` are English.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import cache

HEADS: Mapping[str, Mapping[str, str]] = {
    "German": {
        "item_id": "Paar Eintrag Beispiel Datensatz",
        "rater_id": "Bewerter Bewerterin Annotatorin Annotierer Annotierende Gutachter Gutachterin Prüfer Prüferin "
        "Beurteiler Beurteilerin Juror Jurorin Teilnehmer Teilnehmerin Versuchsperson Kodierer Kodiererin",
        "criterion": "Kriterium Merkmal Aspekt Metrik",
        "label": "Urteil Bewertung Beurteilung Gewinner Sieger Präferenz Bevorzugt Votum Stimme Wertung Punktzahl "
        "Entscheidung",
        "cluster_id": "Frage Thema Aufgabe Anfrage Eingabe Dokument",
        "system_a": "Modell ModellA Modell1 ModellLinks SystemLinks ErstesModell ErstesSystem AssistentA",
        "system_b": "ModellB Modell2 ModellRechts SystemRechts ZweitesModell ZweitesSystem AssistentB",
        "presentation": "Reihenfolge",
        "category": "Kategorie Bereich Fachgebiet",
        "len_a": "LängeA Länge1",
        "len_b": "LängeB Länge2",
        "run": "Durchlauf Durchgang Wiederholung",
        "seconds": "Sekunden",
        "currency": "Währung",
        "rationale": "Begründung Kommentar Erklärung Anmerkung Bemerkung",
    },
    "Chinese": {
        "item_id": "样本 条目 样例 样本对",
        "rater_id": "标注员 标注者 标注人 标注人员 评审 评审员 评审人 "
        "评估员 评估者 评估人 评分员 评分者 评分人 评委 审核员 评价者 打分人",
        "criterion": "标准 维度 评价维度 评估维度 评价标准 评分标准 指标 评价指标",
        "label": "标签 评分 得分 分数 打分 判断 判定 胜者 获胜者 胜出者 偏好 选择 投票 评价 评价结果 标注结果",
        "cluster_id": "问题 题目 主题 话题 任务 提示 提示词 题号 查询",
        "system_a": "模型 系统 模型A 模型1 系统A 系统1 左模型 左侧模型 第一模型",
        "system_b": "模型B 模型2 系统B 系统2 右模型 右侧模型 第二模型",
        "presentation": "顺序 展示顺序",
        "category": "类别 分类 领域",
        "len_a": "长度A 长度1",
        "len_b": "长度B 长度2",
        "run": "轮次 次数",
        "seconds": "秒 秒数 用时秒",
        "currency": "货币 币种",
        "rationale": "理由 原因 解释 说明 备注 评语",
    },
    "Spanish": {
        "item_id": "elemento ejemplo muestra",
        "rater_id": "anotador anotadora evaluador evaluadora revisor revisora juez jueza etiquetador etiquetadora "
        "participante calificador",
        "criterion": "criterio dimensión aspecto métrica",
        "label": "etiqueta veredicto ganador ganadora puntuación puntaje calificación voto preferencia valoración "
        "juicio elección decisión",
        "cluster_id": "pregunta tema tarea consulta documento instrucción",
        "system_a": "modelo sistema modeloA modelo1 sistemaA sistema1 modeloIzquierda modeloIzquierdo",
        "system_b": "modeloB modelo2 sistemaB sistema2 modeloDerecha modeloDerecho",
        "presentation": "orden",
        "category": "categoría dominio",
        "len_a": "longitudA longitud1",
        "len_b": "longitudB longitud2",
        "run": "repetición ronda",
        "seconds": "segundos",
        "currency": "moneda divisa",
        "rationale": "razón motivo explicación comentario justificación",
    },
    "French": {
        "item_id": "exemple échantillon paire",
        "rater_id": "annotateur annotatrice évaluateur évaluatrice juge correcteur correctrice relecteur relectrice "
        "participante",
        "criterion": "critère métrique",
        "label": "étiquette gagnant vainqueur préférence jugement choix décision",
        "cluster_id": "sujet thème tâche requête consigne",
        "system_a": "modèle système modèleA modèle1 systèmeA système1 modèleGauche",
        "system_b": "modèleB modèle2 systèmeB système2 modèleDroite modèleDroit",
        "presentation": "ordre",
        "category": "catégorie domaine",
        "len_a": "longueurA longueur1",
        "len_b": "longueurB longueur2",
        "run": "répétition essai",
        "seconds": "secondes",
        "currency": "devise monnaie",
        "rationale": "raison commentaire",
    },
}
# what a row or a column is called that is made of others, in English too
MADE_OF_OTHERS = frozenset(
    ("mean", "average", "avg", "median", "sum", "total", "std", "sd", "summe", "mittelwert", "durchschnitt", "promedio",
     "media", "moyenne", "平均", "平均分", "均值", "总分")
)  # fmt: skip
TOTALS = MADE_OF_OTHERS | {"grand total", "totals", "overall", "gesamt", "schnitt", "suma", "somme", "合计", "总计"}
ENDS = re.compile(r"(?:ids?|nr|nummer|kennung|name|名称|姓名|名字|名|编号|号|nombre|numero|nom)$")
STARTS = re.compile(r"^(?:id|identificador|identifiant|nombre|nom|numero)(?:del?|du)?(?:la)?(?=.)")


def plain_head(name: str) -> str:
    """A head without case, accents, blanks and signs: `Begründung (kurz)` is `begrundungkurz`."""
    apart = unicodedata.normalize("NFKD", name.casefold())
    return "".join(sign for sign in apart if sign.isalnum())


@cache
def heads_of(part: str) -> Mapping[str, str]:
    """The plain heads of a part, each with its language; umlauts written as two letters too."""
    return {
        plain_head(spelt): language
        for language, parts in HEADS.items()
        for word in parts.get(part, "").split()
        for spelt in (word, re.sub("[äöü]", lambda sign: {"ä": "ae", "ö": "oe", "ü": "ue"}[sign[0]], word.casefold()))
    }


def language_of(part: str, name: str) -> str:
    """In which language a head is called as the part is, its number or name at either end left out; else ""."""
    head, known = plain_head(name), heads_of(part)
    return next((known[one] for one in (head, ENDS.sub("", head), STARTS.sub("", head)) if one in known), "")
