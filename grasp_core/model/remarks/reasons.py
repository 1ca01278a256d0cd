"""Reasons why there is no value, no p or no interval; problems of the items file."""

from enum import unique

from grasp_core.model.remarks.remark import Code


@unique
class NoValue(Code):
    """Reasons why a statistic has no value, or no p-value."""

    NO_ANNOTATION = "the group has no annotations"
    NO_PAIR = "no item was rated by two raters of the group"
    ONE_LABEL_INSIDE = "on the items that several of the group rated, all of them gave one same label"
    NO_SHARED_ITEM = "no item was rated both by the group and by the others"
    NO_PAIRED_ITEM = "no item was rated by two raters of the group and by two others"
    MANY_LABELS = "label use is told of up to {most:d} labels; there are more"
    ONE_LABEL_ACROSS = "on the items that both rated, the group and the others all gave one same label"
    ONE_PLURALITY = "one same label is the most frequent on every item that both rated, on both sides"
    GAI_HALF_MISSING = "its {statistic} has no value: {because}"
    # The value is kept with the code but not shown: each group would need a line of its own.
    GAI_NOT_ABOVE_0 = "its {statistic} is not above 0, which a ratio needs{value:?}"
    NO_GROUP_WITH_GAI = "no group of this axis has an estimable GAI"
    NO_SHUFFLED_VALUE = "no shuffled value was estimable, so there is no p-value"
    FEW_SHUFFLED_VALUES = "only {shuffled:d} shuffled values were estimable, too few for a p-value"
    NOT_IN_THIS_RUN = "{statistic} was not part of this run"
    NO_ITEM_WITH_BOTH = "no item has both a label of the model and one of the group"
    ONE_LABEL_WITH_MODEL = "on the items that both labelled, the model and the group all gave one same label"
    OTHER_ITEMS = (
        "groups of this axis were given other items, or more of them, which moves this value whatever raters "
        "think: random groupings cannot test it"
    )
    FEW_TO_LEAVE_OUT = (
        "groups of this axis were given other items, or more of them, so label use is tested by leaving "
        "raters out, for which either side needs {least:d} or more"
    )
    GAI_RARELY_ESTIMABLE = "GAI has no value in most random groupings of this size"


@unique
class NoInterval(Code):
    """Reasons why a value has no interval."""

    FEW_RATERS_INSIDE = "the group has {raters:rater}; an interval takes {least:d} or more"
    FEW_RATERS_OUTSIDE = (
        "{raters:rater} {raters:is/are} outside the group; an interval takes {least:d} or more"
    )
    FEW_RARER_LABELS = (
        "the group gave {labels:label} other than its most frequent one; an interval takes {least:d} or more"
    )
    FEW_RARER_LABELS_OUTSIDE = (
        "the others gave {labels:label} other than their most frequent one; "
        "an interval takes {least:d} or more"
    )
    NO_VALUE_WITHOUT_ONE = "without some rater, item or label there would be no value"
    MANY_ORDERED_LABELS = "intervals of ordered labels take up to {most:d} of them; there are more"
    MANY_ITEMS_AND_LABELS = "intervals take up to {most:d} items times labels; there are more"


@unique
class NoFit(Code):
    """Reasons why a small p is counted although the spec asked for a curve through the tail."""

    FEW_FOR_TAIL = "a curve through the tail takes {least:d} shuffled values or more; there are {shuffled:d}"
    NO_CURVE = "no curve fits the tail of the shuffled values: it bends, or too many are equal"


@unique
class ItemProblem(Code):
    """Problems with the items file, or with columns that should make slices."""

    NO_ITEMS_FILE = (
        "the reading names {column:q} as the items file's column of ids, and no items file was given; "
        "give it beside the annotations"
    )
    NO_ITEM_IDS = (
        "no column of {file} holds item ids, so {items} cannot describe its items; "
        "name the column of the ids as the item column, or leave the items file out"
    )
    NOTHING_DESCRIBED = (
        "none of the items of {file} ({ids:3}) is in column {column:q} of {items} (which holds {example:q} "
        "for one); use the same item ids in both files, or name another column of ids"
    )
    NOTHING_DESCRIBED_BUT_FOR = (
        "{problem}: {others:?{matches} of {of}}{others:!all} would match but for {difference}, "
        "as {item:q} there and {other:q} here"
    )
    BLANK_ITEM_ID = (
        "{file}, row {row:d}, column {column:q}: the item id is blank; give every row an id, or remove it"
    )
    ITEM_TWICE = (
        "{file}, rows {first:d} and {second:d}, column {column:q}: item {item:q} is there more than once"
        "{more:? (and {more:more item} likewise)}; give each item one row"
    )
    ITEMS_NOT_DESCRIBED = (
        "{items:item} with annotations {items:is/are} not in column {column:q} of {file}, "
        "so what only that file says of them is unknown"
    )
    ITEMS_WITHOUT_ANNOTATIONS = (
        "{items:item} in {file} {items:has/have} no annotations and {items:does/do} not count"
    )
    ITEM_IDS_WRITTEN_OTHERWISE = (
        "{file}, column {column:q}: {ids:id} would match an item but for {difference}; "
        "write them in one way in both files"
    )
    FILES_DISAGREE_ON_ITEMS = "{files:and} disagree on {column:q} for {items:item}; {decides} decides"
    SEVERAL_VALUES_OF_ITEM = (
        "{file}, rows {first:d} and {second:d}, column {column:q}: item {item:q} has {value:q} and "
        "{other:q}{more:? (and {more:more item} likewise)}; slices need one value per item: choose another "
        "column, or mend the file"
    )
    NO_SLICES_OF = (
        "column {column:q} holds {what}, of which no slices are made; choose a column that describes items"
    )
    TOO_MANY_SLICES = (
        "{file}, column {column:q}: {values} different values were found, at most {most} make slices; "
        "recode them into fewer, cut numbers into ranges, or choose another column"
    )
    LONG_SLICE = (
        "{file}, row {row:d}, column {column:q}: a text of {length} characters names no slice, at most "
        "{most} do; choose a column of short values, or recode them"
    )
    ONE_SLICE = (
        "column {column:q} has {value:?only {value}}{value:!no value} among the items that count, so it "
        "makes no slices; choose another column"
    )
