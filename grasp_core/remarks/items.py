"""What is wrong or odd about the items file, and about columns that are to make slices."""

from __future__ import annotations

from enum import unique

from grasp_core.remarks.remark import Code


@unique
class ItemProblem(Code):
    """What is wrong with the items file, or with columns that are to make slices."""

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
