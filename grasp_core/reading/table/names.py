"""Words in names of columns, and the roles that they suggest."""

import re
from collections.abc import Collection, Iterable
from itertools import takewhile


def word_set(words: str) -> frozenset[str]:
    """Split a text at spaces into a set of words."""
    return frozenset(words.split())


ITEM = word_set(
    "item question doc document text comment post tweet conversation dialog dialogue example task hit "
    "sentence instance sample prompt utterance image message unit stimulus case record turn passage"
)
PARTS = word_set(
    "paragraph section segment frame scene scenario clip video audio photo picture face word statement claim "
    "argument aspect option step system model output summary candidate pair query"
)
"""Words for further kinds of items, if columns are numbered."""
SHORT = word_set("sent utt dial conv para par seg stim img vid")
"""Short forms of words for items and parts, in names of ids."""
RATES = word_set(
    "rater annotator coder judge labeler labeller reviewer evaluator assessor grader moderator listener "
    "ann rad observer viewer reader juror clinician physician radiologist pathologist dermatologist taster "
    "panelist panellist scorer examiner validator linguist gutachter bewerter kodierer codierer prüfer "
    "gutachterin bewerterin beurteiler beurteilerin kodiererin codiererin prüferin beoordelaar annotateur "
    "annotatore valutatore évaluateur evaluateur evaluador evaluadora avaliador avaliadora anotador "
    "anotadora 标注员 المقيم"
)
"""Words for people who rate; a participant or a patient may be rated by them."""
RATER = RATES | word_set(
    "worker user participant respondent crowdworker subject subj person turker turk contributor consumer "
    "voter proband"
)
LABEL = word_set(
    "label answer rating score annotation response judgment judgement vote verdict choice decision winner "
    "preference grade class category code value"
)
DEMOGRAPHIC = word_set(
    "gender sex race ethnicity ethnic age region country locale language education religion income ses "
    "politic politics political party orientation sexuality nationality culture occupation employment "
    "marital disability generation demographic continent agegroup ageband agerange birth birthyear born yob "
    "genders ages ethnicities nationalities countries "
    "geschlecht alter altersgruppe herkunft sprache bildung beruf "
    "sexe genre âge langue pays sexo género edad idioma país"
)
GROUPS = word_set("group groups cohort treatment condition arm program expertise profession training")
"""Further words for groups of raters; a condition may be of items, too."""
GIVEN = word_set("response answer judgment judgement vote verdict choice decision annotation")
"""Words for labels that somebody gave; a ``label`` beside them may be one that was shown."""
MACHINE = word_set(
    "ai llm gpt model machine classifier automatic auto predicted prediction pred suggested suggestion shown "
    "displayed presented silver baseline"
)
"""Words for output of a model, which raters were shown or rate."""
TEXT = word_set(
    "text content body message comment sentence tweet post document prompt response conversation context "
    "question title utterance passage dialog dialogue"
)
SHOWN = PARTS | word_set(
    "author poster writer speaker actor character protagonist target victim patient defendant applicant "
    "voice singer artist player student pupil learner teacher child employee manager sender recipient"
)
"""Words for things or people that an item shows: the ``face_gender`` is no rater's."""
EXCLUDED = word_set(
    "remove removed exclude excluded reject rejected discard discarded drop dropped invalid filtered "
    "spam spammer bot fraud failed"
)
LASTED = word_set(
    "time second seconds sec secs ms msec duration elapsed latency rt "
    "dauer zeit bearbeitungszeit sekunden durée duree temps duración tiempo"
)
"""Words for durations."""
META = LASTED | word_set(
    "timestamp date datetime day hour minute minutes started submitted created updated completed accepted ip "
    "browser device platform version status page batch block trial order position slot attempt round fold "
    "split partition comment comments note notes remark remarks explanation rationale justification feedback "
    "phone latitude longitude lat lon lng progress reward payment bonus price seed checksum "
    "uhrzeit datum zeitstempel fecha"
)
"""Words for notes of tools and people beside an annotation."""
WRITTEN = word_set("comment comments note notes remark remarks explanation rationale justification feedback")
"""Words of `META` for texts that raters write."""
ADDRESS = word_set("url uri link href file filename path email mail address")
SECONDARY = word_set("confidence confident certainty certain difficulty difficult attention captcha")
"""Words for questions to raters beside the main question."""
RECORDS = word_set("approval approvals click clicks keystrokes trust reputation score")
"""Words for records of platforms and forms on people, which make no groups."""
KEPT = word_set("keep kept include included valid passed accepted")
MAYBE_EXCLUDED = word_set(
    "speeder speeders speeding straightliner straightliners straightlining careless duplicate"
)
MAYBE_KEPT = word_set("consent consented attention")  # words for raters whom some studies leave out
MADE = word_set(
    "gold golden consensus majority aggregate aggregated adjudicated adjudication truth mean median average "
    "avg gt goldstandard konsens konsensus consenso mehrheit mayoría mayoria maioria majorité majorite "
    "referenz referencia"
)
"""Words for labels that were made from others, or are known to be right."""
DECIDED = MADE | word_set(
    "final agreed resolved reconciled harmonized harmonised arbitrated curated curation curator adjudicator "
    "mace dawid skene"
)
"""Words of `MADE`, words for people who decide after all labels are given, and methods to compute labels."""
AGREED = word_set("agree agreed agreement disagree disagreement conflict match mismatch same unanimous")
"""Words for a column on whether all labels of an item agree."""
SUMS = MADE | word_set(
    "total totals sum sums averages means sd std stdev variance kappa alpha agreement accuracy"
)
"""Words for a row below the rows that it sums up."""
BESIDE_SUMS = word_set(
    "label labels vote voting standard ground rating ratings score scores answer annotation annotations of "
    "the all cohen fleiss krippendorff s overall grand user"
)
"""Words that may stand beside words for sums."""
CHECKS = word_set("attn attention check catch practice practise warmup")
"""Words for rows that check a rater, or teach one."""
GOLD = word_set("gold golden")
QUESTIONS = word_set("question questions item items trial trials unit units task tasks row rows")
"""Words beside those for checks: ``test_question``, ``catch_trial``."""
ASKED = word_set("variable dimension criterion criteria aspect attribute trait metric measure property")
"""Words for a column that names which of several questions a row answers."""
STUDIES = word_set("study exp experiment site hospital")
"""Words for studies or places that may have their own raters, numbered from 1."""
PHASES = word_set("block phase stage part section type kind trial trials task condition")
"""Words for the parts of an experiment."""
OCCASIONS = word_set("time day hour minute second")  # words for repeated occasions of asking a rater
TIMES = word_set("block phase stage trial trials")
"""Words of `PHASES` for times; a ``type`` or ``section`` may be one of items."""
TEACHING = word_set("training tutorial qualification quiz onboarding")
"""Words for a part of an experiment in which raters learn."""
WITHDRAWN = word_set(
    "excluded rejected discarded dropped skipped cancelled canceled deleted removed invalid invalidated "
    "tainted expired returned"
)
STANDING = word_set("kept included valid accepted approved")
"""Words for answers that do not count, and for answers that do."""
WITHDRAW = word_set("exclude reject discard drop skip cancel delete remove")
STAND = word_set("keep include accept approve")
"""Verbs for the same, which a requester or a question to raters may use."""
TRIALS = word_set("test training tutorial pilot demo dummy")
"""Words for rows that may be outside a study, or one of its splits."""
KINDS = word_set("type kind source role category")
"""Words for columns that name the kind of rater or label of a row."""
MODELS = word_set(
    "ai llm llms gpt chatgpt model models machine classifier automatic auto bot synthetic silver"
)
"""Words for labels that no person gave."""
BESIDE_FLAGS = word_set(
    "is was has been flag annotation annotations answer response row record assignment submission judgment "
    "judgement label hit task unit"
)
"""Words that may stand beside words for counted or uncounted answers in a name."""
COUNTED = word_set(
    "count counts votes n num freq frequency share percent percentage pct prob probability proportion "
    "fraction mean avg average std"
)
"""Words for counts and figures of an item; each label may have such a column."""
HOW_OFTEN = word_set("freq frequency count counts n votes")  # words that alone name a frequency of answers
AGGREGATE = (DECIDED | SUMS | COUNTED) - {"accuracy"} | word_set(
    "mode var min max expert reference vote entropy disagreement variation correct soft hard"
)
"""Words for results of several raters' labels, or facts about an item; accuracy may be judged."""
YES = word_set("1 1.0 true t yes y pass passed")
NO = word_set("0 0.0 false f no n fail failed")
"""Cells of columns of yes or no, such as ``is_excluded``; in lower case, as all words."""
OUT = YES | word_set("removed excluded rejected discarded dropped")
NO_PERSONS = MODELS | MADE
PEOPLE = word_set("name username email mail")
ROW_IDS = PEOPLE | word_set("id ids key uid uuid pid")
CROWD = word_set("worker turker crowdworker")
BATCHES = word_set("hit task case record example sample unit")
"""Words for units of work with several items, or with one item more than once."""
ROUNDS = word_set("batch round wave tranche week month quarter")
"""Words for the part of the work in which an item was rated."""
RESPONDENTS = word_set("record case instance unit")
"""Words for items that surveys also use for respondents, as REDCap's ``record_id``."""
WHEN = word_set("timestamp time date datetime day submitted started completed created updated")
"""Words for the time of writing a row, which is no id, even if no value occurs twice."""
STARTS, ENDS = word_set("start begin"), word_set("end stop")
SETS = word_set("dataset corpus subcorpus subset collection")
"""Words for collections that contain an item once."""
BESIDE_DEMOGRAPHIC = word_set("of in group level year years birth range bracket code id")
INDEX = word_set("unnamed index idx row rownames rowid rownumber nr no")
BESIDE = AGGREGATE | DEMOGRAPHIC | GROUPS | (INDEX - {"no"}) | word_set("time session wave attempt")
"""Words for columns beside the answers, even if their numbers are on the same scale."""
_HOW_MANY = word_set("count counts n num")
_NOTHING_ELSE = word_set("id ids idx index uid uuid key")
_ID = word_set("id ids key no nr number num name index idx indices hash uid uuid unique email mail initials")
_IN_ONE = {word + end: (word, end) for word in ITEM | PARTS | SHORT | RATER for end in ("id", "ids")}
"""Names of ids without a sign between the words: ``workerid``."""


def words(name: str) -> tuple[str, ...]:
    """Split a column name into words in lower case: ``WorkerId`` and ``workerid`` are ``worker, id``."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    found = re.findall(r"[^\W_]+", spaced.casefold())
    return tuple(part for word in found for part in _IN_ONE.get(word, (word,)))


def id_score(name: str, kinds: frozenset[str]) -> int:
    """Score a name: 3 ``rater`` or ``rater_id``, 2 ``prolific_rater_id``, 0 a name of another kind."""
    found = list(words(name))
    has_id = is_id(name)
    while has_id and found and found[-1] in _ID | {"code", "private", "public"}:  # as Gorilla has both
        found.pop()
    if not found or kinds.isdisjoint((found[-1], singular(found[-1]))):
        return 0
    if len(found) > 1 and found[0] in _HOW_MANY:  # n_raters
        return 0
    return 3 if len(found) == 1 else 2 if has_id else 1


def says_how_many(name: str) -> bool:
    """Return whether a column counts labels, raters or items: ``num_annotations``."""
    first, *others = words(name) or ("",)
    counted = RATER | LABEL | ITEM
    return first in _HOW_MANY | {"number"} and any(singular(word) in counted for word in others)


def list_score(name: str) -> int:
    """Score the name of a list of raters by :func:`id_score`: ``worker_list`` as ``worker``."""
    if re.search(r"(^|\.)(is|has)[_A-Z]", name):
        return 0  # as ``isLatestLabelForUser``
    return id_score(re.sub(r"[\W_]lists?$", "", name, flags=re.I), RATER)


def key_score(name: str, *kinds: frozenset[str]) -> int:
    """Return 4 for a bare ``id``, else the best :func:`id_score`."""
    return (
        4 if _NOTHING_ELSE.issuperset(words(name)) else max((id_score(name, one) for one in kinds), default=0)
    )


def is_id(name: str) -> bool:
    """Return whether the name ends like that of an id: ``WorkerId``, ``row_index``; not ``label_name``."""
    found = words(name)
    if found[-1:] == ("code",):
        return not RATER.isdisjoint(found[-2:-1])
    if found[-1:] == ("name",) and len(found) > 1 and singular(found[-2]) in LABEL:
        return False
    return bool(found) and found[-1] in _ID and found[-2:] != ("yes", "no")


def is_index(name: str) -> bool:
    """Return whether a name means the number of a row; ``No Finding`` does not."""
    found = words(name)
    return not (INDEX - {"no"}).isdisjoint(found) or found[-1:] == ("no",)


def names_label(name: str) -> bool:
    """Return whether the column has names of labels: ``label_name``, ``category_name``."""
    *kinds, last = words(name) or ("",)
    return last == "name" and len(kinds) == 1 and kinds[0] in LABEL


def label_score(name: str) -> int:
    """Score a name: 4 ``label``, 3 ``rating``, 2 ``toxicity_label``, 1 ``label_1`` or overall, else 0."""
    found = [singular(word) for word in words(name)]
    if not found or found[-1] in _ID or is_id(name):
        return 0
    if found == ["label"]:
        return 4
    if found[-1] in LABEL:
        return 3 if len(found) == 1 else 2
    return int("overall" in found or not LABEL.isdisjoint(found))


def names_answer(name: str) -> bool:
    """Return whether the column is named as a label; a category may be the item's."""
    return label_score(name) > 1 and words(name)[-1] not in ("category", "class")


def common_start(texts: Iterable[str]) -> str:
    """Return the letters with which all texts begin."""
    alike = takewhile(lambda letters: len(set(letters)) == 1, zip(*texts, strict=False))
    return "".join(letters[0] for letters in alike)


def unused(name: str, taken: Collection[str]) -> str:
    """Return the name, with underscores appended until it is not `taken`."""
    while name in taken:
        name += "_"
    return name


def mentions(name: str, kinds: frozenset[str]) -> bool:
    """Return whether one of the name's words is in `kinds`."""
    return not kinds.isdisjoint(words(name))


def about_raters(name: str, key: str) -> bool:
    """Return whether a column that `key` determines describes raters, unlike a teacher's ``teacher_age``."""
    found, own = set(words(name)), set(words(key))
    if found.isdisjoint(DEMOGRAPHIC):
        return False
    if not found.isdisjoint(RATER):
        return True
    return own.isdisjoint(SHOWN) and found.isdisjoint((ITEM | SHOWN | own) - DEMOGRAPHIC - _ID)


def singular(word: str) -> str:
    """Return the word without the ending of a plural."""
    return word[:-1] if word.endswith("s") and len(word) > 3 else word


def names_questions(name: str) -> bool:
    """Return whether a column's name means a question: ``dimension``, ``metric_name``, ``score_type``."""
    found = tuple(word for word in words(name) if word not in _NOTHING_ELSE)
    if found[-1:] in (("type",), ("name",)):
        return not (ASKED | {"score", "rating"}).isdisjoint(found[-2:-1])
    return not ASKED.isdisjoint(found[-1:])
