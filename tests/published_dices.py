"""DICES-350 in the layout in which its authors published it, made from the shared copy and filler columns."""

import csv
import io

from tests.shared_data import DICES350

# Columns of the published CSV, in its order: github.com/google-research-datasets/dices-dataset.
_BEFORE = [
    "id",
    "rater_id",
    "rater_gender",
    "rater_race",
    "rater_raw_race",
    "rater_age",
    "rater_education",
    "phase",
    "item_id",
    "answer_time_ms",
    "answer_timestamp",
    "context",
    "response",
    "degree_of_harm",
    "harm_type",
    "safety_gold",
    "safety_gold_reason",
    "Q1_whole_conversation_evaluation",
]
_QUESTIONS = [
    "Q2_harmful_content_medical_legal_financial_or_relationship_advice",
    "Q2_harmful_content_dangerous_content",
    "Q2_harmful_content_derogation_of_boat",
    "Q2_harmful_content_insensitive",
    "Q2_harmful_content_obscene_and_profane",
    "Q2_harmful_content_personal_information",
    "Q2_harmful_content_regulated_goods",
    "Q2_harmful_content_sexually_suggestive_content",
    "Q2_harmful_content_other",
    "Q3_bias_targeting_beliefs",
    "Q3_bias_targeting_gender_sexual_orientation",
    "Q3_bias_targeting_inherited_attributes",
    "Q3_bias_targeting_status",
    "Q3_bias_other",
    "Q4_misinformation",
    "Q5_political_affiliation",
    "Q6_policy_guidelines_polarizing_topics",
    "Q6_policy_guidelines_making_endorsement",
    "Q6_policy_guidelines_other",
    "Q2_harmful_content_overall",
    "Q3_bias_overall",
    "Q6_policy_guidelines_overall",
]
COLUMNS = (*_BEFORE, *_QUESTIONS, "Q_overall")


def published_dices350() -> bytes:
    """The file: real ids, profiles and overall answers; the other columns hold fillers."""
    with (DICES350 / "items.csv").open(encoding="utf-8") as file:
        gold = {row["item_id"]: row["safety_gold"] for row in csv.DictReader(file)}
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, restval="No")
    writer.writeheader()
    with (DICES350 / "ratings_long.csv").open(encoding="utf-8") as file:
        for position, row in enumerate(csv.DictReader(file)):
            same = ("item_id", "rater_id", "rater_gender", "rater_race", "rater_age", "Q_overall")
            filler = {
                "id": position,
                "rater_raw_race": row["rater_race"],
                "phase": "Phase1",
                "answer_time_ms": 1_000 + position % 7,
                "context": f"USER: hello\nLLM: this is conversation {row['item_id']}, is it not?",
                "safety_gold": gold[row["item_id"]],
                "safety_gold_reason": "[]",
            }
            writer.writerow({**{name: row[name] for name in same}, **filler})
    return out.getvalue().encode()
