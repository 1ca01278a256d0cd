"""Problems and oddities of data: the place, the finding and the remedy."""

from __future__ import annotations

from enum import unique

from grasp_core.model.remarks.remark import Code

_SAME = "recode them, or give them one spelling in the file, if they are the same"


@unique
class FileProblem(Code):
    """Problems and notes on a file that was read as a table."""

    NO_ROWS = (
        "{file} holds column names{row:? (row {row:d})} and no rows; add a row per annotation, item or rater"
    )
    TOO_MANY_COLUMNS = (
        "{file}, {where}: {columns} columns were found, at most {most} are read; "
        "turn the table so that what recurs is in rows, or leave columns out"
    )
    TOO_MANY_CELLS = (
        "{file} would become a table of more than {most} cells, the most that is read; "
        "leave fields out, or split it"
    )
    HARDLY_FILLED = (
        "{file}: {records:record} would become a table of {columns} columns, of whose {cells} cells only "
        "{filled} are filled; write a row per annotation"
    )
    FIRST_COLUMN_UNNAMED = "{file}, {where}: the first column has no name and is called {column:q} here"
    NO_COLUMN_NAMED = "{file}, {where}: none of {columns:column} has a name; name every column in the header"
    COLUMNS_UNNAMED = (
        "{file}, {where}: {unnamed:column} of {columns} {unnamed:has/have} no name (column {places}) and "
        "{unnamed:is/are} called by {unnamed:its place/their places} here, as 'column 3'"
    )
    COLUMNS_NAMED_ALIKE = (
        "{file}, {where}: columns have names that stand before them too, and are called {again:3} here"
    )
    ROW_NAMES = (
        "{file}, {where}: the header is one field shorter than the rows, as with row names; "
        "the first column is called {column:q} here"
    )
    NO_HEADER = (
        "{file}, {where}: the first row is like those below it, so it is data and the columns have no names; "
        "they are called {columns:3} here: name them in a row above if that is wrong"
    )
    HEADER_OF_NUMBERS = (
        "{file}, {where}: the first row holds numbers alone ({columns:3}) and was taken for the names of the "
        "columns; if it is data, or says how much there is, write names above it or in its place"
    )
    HEADER_OF_ROWS = "{file}: the names of the columns were put together from the first {rows:d} rows"
    ONE_IS_TICKED = "{file}: each row ticks one of {columns:5}; they are read as one label, {column:q}"
    ROW_OF_DESCRIPTIONS = (
        "{file}: row {row:d} describes the columns (of {column:q} it says {cell:q}), and was left out"
    )
    HEADER_BELOW = (
        "{file}: the column names were taken from row {header:d}; "
        "{rows:row} above it, the first with {cell:q}, left out"
    )
    HEADER_AGAIN = "{file}: {rows:row} that {rows:repeats/repeat} the header left out"
    ROWS_END_EARLY = (
        "{file}: {rows:row} {rows:ends/end} before 'Approve' and 'Reject', which are taken as empty"
    )
    ROWS_OF_OTHER_LENGTH = (
        "{file}, row {row:d}: {found:field} found, the header names {columns}"
        "{more:? ({more:more row} likewise)}; give every row {columns} fields, and put a field that contains "
        "{delimiter} in double quotation marks"
    )
    MERGED_CELLS = (
        "{file}: {cells:merged cell}; the value counts for the first of the cells merged, "
        "the others are empty"
    )
    ERROR_CELLS = "{file}: {cells:cell} of the workbook with an error such as #N/A, read as empty"
    OTHER_ENCODING = (
        "{file} is not UTF-8 and was read as {encoding}, where row {row:d} holds {example:q} for one; "
        "if that looks wrong, save the file as 'CSV UTF-8'"
    )
    OTHER_ENCODING_INSIDE = (
        "{file} was read as {encoding}, where it holds {example:q} for one; if that looks wrong, "
        "save the data as CSV in UTF-8 there"
    )
    DECLARED_MISSING = "{file}: {cells:cell} that the file declares missing, read as empty, in {columns}"
    SYSTEM_MISSING = "{file}: {cells:cell} without a value (system-missing), read as empty, in {columns}"
    LABELS_FOR_CODES = "{file}: {columns} {count:holds/hold} the labels of the values in place of codes"
    CODES_KEPT = "{file}: {column:q} keeps its codes, as not every value has a label of its own ({labels})"
    COLUMNS_WITHOUT_TEXT = "{file}: {count:column} without a text form (lists, raw bytes) left out: {columns}"
    NO_FRAME = (
        "{file} is of type {kind}; give a data frame (of pandas, polars or Arrow), what `read` returns, "
        "or the path of a file"
    )
    FRAME_NOT_READ = (
        "{file}, of type {kind}, does not hand out its columns ({error}); "
        "give columns of text, numbers, truth values or dates"
    )
    CELL_WITHOUT_TEXT = (
        "{file}, row {row:d}, column {column:q}: the cell is of type {kind}; "
        "write text, a number, a truth value, a date, or nothing"
    )
    ONE_MEMBER_READ = "{file}: only its {what} {member} was read; {others:another is/others are} {shown}"
    MEMBER_LIKE_RATERS = (
        "{file}: its {what} {member:q} has a row for each value of {column:q}: it may be read as the raters, "
        "on Data, or by --raters {file:q} --raters-member {member:q}"
    )
    MEMBER_PER_ANNOTATOR = (
        "{file}: each of its {members} {what}s was taken for the annotator that it is named after "
        "({raters:3}), {rows:row} in all; row numbers are those of each {what}"
    )
    MEMBER_PER_ITEM = (
        "{file}: each of its {members} {what}s was taken for the item that it is named after "
        "({items:3}), {rows:row} in all; row numbers are those of each {what}"
    )
    MEMBERS_TOGETHER = (
        "{file}: its {members} {what}s with the same columns were read as one table of {rows:row}; "
        "the column {column:q} says which; row numbers are those of each {what}"
    )
    ROW_NUMBERS_LEFT_OUT = "{file}: {columns} numbers the rows of each {what} and was left out"
    COLUMNS_NOT_IN_ALL = "{file}: columns that not every {what} has were left out: {columns}"
    MEMBERS_LEFT_OUT = "{file}: left out: {shown}"
    MORE_NOTES = "{more:more note} of this kind about single {what}s"


@unique
class DataProblem(Code):
    """Problems and notes on a table that was read as annotations and raters."""

    NO_COLUMN = (
        "{file} has no column {column:q}; {close:?did you mean {close}, or another of}"
        "{close:!its columns are} {columns:20}{close:??}"
    )
    NO_COLUMN_IN_EITHER = (
        "neither {file} nor {other} has a column {column:q}; {close:?did you mean {close}, or another of}"
        "{close:!their columns are} {columns:20}{close:??}"
    )
    COLUMNS_TOGETHER = (
        "no column is named {column:q}; name {columns} together: on Analysis, or by --intersect {joined}"
    )
    NAMED_TWICE = "column {column:q} is named for two of item, rater and label; choose one column for each"
    NO_ITEM_COLUMN = "{file} has no item column beside the ids and the profile"
    NO_PROFILE = "{file}: column {column:q} holds ids or labels, not a profile"
    COLUMN_IS_A_RATER = (
        "{file}: column {column:q} is taken for a rater in this layout, so it cannot describe raters; "
        "describe them in a raters file"
    )
    COLUMN_IS_AN_ITEM = (
        "{file}: column {column:q} is taken for an item in this layout, so it cannot describe raters; "
        "describe them in a raters file, or name it as a profile column"
    )
    COLUMN_IS_ASIDE = (
        "{file}: column {column:q} is put aside, so it cannot describe raters; describe them in a raters file"
        "{rows:?, or name it as a profile column: on Data, or by --profile {column:s}}"
    )

    BLANK_ID = (
        "{file}, row {row:d}, column {column:q}: the id is blank{more:? (and in {more:more row})}; "
        "give every row an id, or leave such rows out: on Data, under Decide first, or by --exclude-{unit} ''"
    )
    BLANK_ID_OF_ROW = (
        "{file}, row {row:d}, column {column:q}: the id is blank{more:? (and in {more:more row})}; "
        "give every row an id, or leave such rows out: on Data, under Decide first, or by --drop {column:s}="
    )
    BLANK_RATER_ID = (
        "{file}, row {row:d}, column {column:q}: the rater id is blank; give every row an id, or remove it"
    )
    IDS_ALIKE = (
        "{where}: {ids:id} {ids:is/are} there in several spellings, which differ only by case or surrounding "
        "spaces{forms:?, or by the Unicode form of their letters}{numbers:?, or by decimals}, "
        "treated as different; " + _SAME
    )
    VALUES_ALIKE = (
        "{where}: {pair} differ only by {numbers:?how a number is written, or by }spaces or case"
        "{letters:?, or by the Unicode form of their letters,} and are treated as different"
        "{more:?, and {more:more such case}}; " + _SAME
    )
    LIKE_MISSING = (
        "{where}: {cells:cell} {cells:holds/hold} {value:q}, treated as a value; "
        "if it means no value, name it so: on Data, or by --missing {value:s}"
    )
    MISSPELT = (
        "{where}: {label:q} ({cells:cell}) looks like {other:q} and counts as a label of its own; "
        "if it is misspelt, mend the file, or count it as missing"
    )

    LABEL_MISSING = "{place}: the label is missing in {rows:row}, not counted"
    ONE_LABEL = "{where}: every annotation is {label:q}, so no agreement can be estimated"
    TOO_MANY_LABELS = (
        "{labels} distinct values in column {column:q} of {file}: is this the label column? {limit}"
    )
    TOO_MANY_LABELS_IN_COLUMNS = (
        "{labels} distinct labels in {file}, most of them in column {column:q}: does it hold labels? {limit}"
    )
    MOST_LABELS = "At most {most} labels can be analysed"
    MOST_LABELS_OF_NUMBERS = (
        "At most {most} labels can be analysed; these are numbers from {low:g} to {high:g}, as of a slider: "
        "cut them into ranges, under Recode values or with --bins {column:s}:{edges}"
    )
    UNDECLARED_LABEL = (
        "{place}: {label:q} is not one of the declared categories {categories} "
        "({cells:cell} with {found:5}); declare it, count it as missing, or mend the file"
    )
    REPEATED = (
        "{annotations:annotation} of {file} {annotations:repeats/repeat} an earlier one of the same rater, "
        "item and label (row {row:d} for one); each is counted once"
    )
    ANSWERED_TWICE = (
        "{file}: {example}{more:? ({more:more case} like this)}; keep one of them, or let the first or the "
        "last count: on Data, under Decide first, or by --repeated first or last, by the order of rows or by "
        "the times in --order COLUMN"
    )
    MANY_ANSWERED_TWICE = (
        "{file}: {example} ({more:more case} like this); many raters have several rows for an item"
        "{columns:?, which differ in {columns:5}. If these name what was judged, they belong to the item: "
        "on Data, or by --item COLUMN+COLUMN}. If these are choices of one answer, write them into one row, "
        "as 'a + b'; spans cannot be analysed. If the item was shown again, let the first or the last count: "
        "on Data, under Decide first, or by --repeated first or last, by the order of rows or by the times "
        "in --order COLUMN"
    )
    MOSTLY_ANSWERED_TWICE = (
        "{file}: {example}{more:? ({more:more case} like this)}; raters have several rows for most items, "
        "{columns:?which differ in {columns:5}. If one of these columns, or several together, name what was "
        "judged, that is the item: on Data, or by --item COLUMN+COLUMN}"
        "{columns:!and nothing names what was judged in each}. If these are choices of one answer, write "
        "them into one row, as 'a + b'; spans cannot be analysed"
    )
    ANSWERED_TWICE_BUT_FOR = (
        "{file}: {example}{more:? ({more:more case} like this)}; {column:q} differs between {left:?most }"
        "such rows{left:?, and {left:case} would be left}. If each of its values makes another item, the "
        "item is {item}+{column}: on Data, or by --item {item:s}+{column:s}. If it makes another rater, the "
        "rater is {rater}+{column}. If it names questions, leave all but one out: on Data, under Leave out, "
        "or by --drop {column:s}=..."
    )

    TIME_MISSING = (
        "{file}, row {row:d}, column {column:q}: the time is missing where item {item:q} by rater {rater:q} "
        "was answered more than once; give it, or let the order of rows decide"
    )
    SAME_TIME = (
        "{file}, rows {first} and {second}, column {column:q}: item {item:q} by rater {rater:q} was answered "
        "differently at the same time, so no answer is the {which} one; name a finer column, or let the "
        "order of rows decide"
    )
    NO_TIME = (
        "{where}: {value:q} is no number or time that is certain; write times as 2024-12-31 23:59:59, "
        "or name another column"
    )
    DAY_OR_MONTH = (
        "{where}: whether {value:q} names the day or the month first cannot be told; "
        "write dates as 2024-12-31"
    )
    DAY_AND_MONTH_FIRST = (
        "{where}: {day:q} names the day first and {month:q} the month, so other dates are not certain; "
        "write all of them as 2024-12-31"
    )
    TIMES_OF_SEVERAL_KINDS = (
        "{where}: {value:q} is {kind} and {other:q} {other_kind}, so which is earlier cannot be told; "
        "write all times in one way"
    )

    NOT_THERE_TO_RECODE = "{where}: {values} to be recoded, but not there"
    NO_NUMBER = "{where}: {cells:cell} without a number ({values:3}) treated as missing"
    COLUMN_EXISTS = "{file} has a column {column:q} already; name the new one otherwise"
    NO_PLACE_IN_ORDER = (
        "{file}, row {row:d}, column {column:q}: {value:q} has no place in the order {order}; "
        "add it there, or count it as missing"
    )
    NO_FILTER_IN_LAYOUT = "{file}: in this layout no column can tell times or right labels, or be filtered by"
    LISTED_RATERS_ABSENT = "{raters:rater} of the list to leave out {raters:is/are} not in {file}"
    LISTED_ITEMS_ABSENT = "{items:item} of the list to leave out {items:is/are} not in {file}"
    NOTHING_WITH_VALUE = "no annotation has {column:q} = {value:q}, so none was left out"
    STRANGE_GOLD = (
        "{file}, column {column:q}: it holds {found:5}, none of which is a label ({labels:5}); "
        "recode the column, or choose the one with the right labels"
    )
    NOBODY_EXCLUDED = (
        "no rater was excluded by {column:q} = {value:q}, which does not occur; "
        "the column holds {found}{found:!no values}"
    )
    ALL_EXCLUDED = "all {raters} raters are excluded by {values:or}; exclude fewer"
    LEFT_OUT = (
        "left out: {annotations:annotation}{raters:?, {raters:rater}}{items:?, {items:item}} ({reason})"
    )
    LABELS_LEFT_OUT = (
        "{where}: all annotations with {labels:5} are left out, but {count:it/they} still "
        "{count:counts/count} among the labels; whoever names the labels decides: on Data, under "
        "“Labels, in order”, or by --categories"
    )
    NO_ANSWER_LEFT = (
        "{file}, column {column:q}: no answer is left; leave the question out, or check missing tokens and "
        "exclusions"
    )
    NOTHING_LEFT = (
        "{file} has no annotation left; check the label column, missing tokens, exclusions and filters"
    )
    ITEMS_GONE = "{items:item} of {file} {items:has/have} no annotation that counts and left the data"
    RATERS_GONE = "{raters:rater} of {file} {raters:has/have} no annotation that counts and left the data"
    ONE_ITEM = "{file} has one item only; statistics over items mean little"
    ONE_RATER = "{file} has one rater only, so there is nobody to agree with"
    NOBODY_SHARES_AN_ITEM = "no item of {file} has labels of two raters, so no agreement can be estimated"

    OTHER_BATCHES = (
        "how well all raters agree is told for each value of {column:q}; {others:3} may be batches or "
        "months, too"
    )
    SEVERAL_VALUES = (
        "{file}, rows {first:d} and {second:d}, column {column:q}: rater {rater:q} has {value:q} and "
        "{other:q}{more:? (and {more:more rater} likewise)}; give each rater one value per column"
    )
    NO_AXIS_TILL_THEN = "{problem}; it is no axis till then"
    FILES_DISAGREE = "{files:and} disagree on {column:q} for {raters:rater}; {decides} decides"
    COLUMN_OF_IDS = (
        "column {column:q} of {file} holds the rater ids, which cannot form groups or exclude raters; "
        "choose a column that describes them"
    )
    NO_RATER_IDS = (
        "no column of {file} holds rater ids, so {raters} cannot describe its raters; "
        "name the column of the ids as the rater column, or leave the raters file out"
    )
    NOBODY_DESCRIBED = (
        "none of the raters of {file} ({ids:3}) is in {named:?column {column:q}}{named:!any column} of "
        "{raters} (which holds {example:q} for one); {advice}"
    )
    NOBODY_DESCRIBED_BUT_FOR = (
        "{problem}: {others:?{matches} of {of}}{others:!all} would match but for {difference}, "
        "as {rater:q} there and {other:q} in column {column:q} here"
    )
    USE_SAME_IDS = "use the same rater ids in both files"
    IDS_ARE_NUMBERS = (
        "the annotations name raters by number, {raters} by address: add a column with the numbers to "
        "{raters} (the tool lists both among its users), or export addresses"
    )
    IDS_ARE_ADDRESSES = (
        "the annotations name raters by address: add a column with the addresses to {raters}, or name the "
        "annotations' column of numbers, if it has one, as the rater column"
    )
    RATERS_NOT_DESCRIBED = (
        "{raters:rater} with annotations {raters:is/are} not in column {column:q} of {file}, "
        "so what only that file says of them is unknown"
    )
    RATERS_WITHOUT_ANNOTATIONS = "{raters:rater} in {file} {raters:has/have} no annotations and do not count"
    IDS_WRITTEN_OTHERWISE = (
        "{file}, column {column:q}: {ids:id} would match a rater but for {difference}; "
        "write them in one way in both files"
    )
    RATERS_IN_SEVERAL_ROWS = (
        "{where}: {raters:rater} {raters:has/have} more than one row; the rows are taken together"
    )
    AXIS_WITHOUT_VALUE = (
        "axis {axis:q} has no value among the raters who count, so it cannot form a group and a complement"
    )
    AXIS_OF_ONE_VALUE = (
        "axis {axis:q} has only {value:q} among the raters who count, so it cannot form a group and a "
        "complement"
    )
    AXIS_OF_NUMBERS = (
        "{axis:q} has {values} different numbers, each a group of its own; cut them into bands, on Data "
        "under Recode values, or by --bins {axis:s}:{edges}"
    )
    UNKNOWN_ON_AXIS = (
        "{unknown:rater} of {raters} {unknown:is/are} unknown on axis {axis:q}, and in none of its groups or "
        "complements"
    )
