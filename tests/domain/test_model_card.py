"""The card of an exported model."""

from __future__ import annotations

from dataclasses import replace

from dflash_desktop.domain.model_card import CardFacts, model_card

FACTS = CardFacts(
    name="Tiny-DFlash-int4-ov",
    is_draft=True,
    is_vision=False,
    repo_id="lab/Tiny-DFlash",
    commit="c0ffee" + "0" * 34,
    licence="apache-2.0",
    weights="int4, groups of 64, all layers",
    commands=[("optimum-cli", "export", "openvino", "--model", "a b", "out")],
    versions={"optimum_intel": "2.2.0"},
    target_repo_id="lab/Tiny",
    target_layers=(1, 2, 3),
)


def test_the_hub_can_read_its_front_matter() -> None:
    lines = model_card(FACTS).splitlines()

    assert lines[: lines.index("---", 1) + 1] == [
        *("---", "library_name: openvino", "license: apache-2.0"),
        *("base_model:", "- lab/Tiny-DFlash", "base_model_relation: quantized"),
        *("pipeline_tag: text-generation", "tags:"),
        *("- openvino", "- dflash", "- speculative-decoding", "---"),
    ]
    text = model_card(FACTS)
    assert "proposes tokens for `lab/Tiny`, and for no other model" in text
    assert "optimum-cli export openvino --model 'a b' out" in text


def test_names_of_strangers_add_nothing_to_it() -> None:
    facts = replace(
        FACTS,
        name="x\n---\ntags: [a]\n# <script>",
        repo_id="no repository\nlicense: mit",
        licence="mit\ntags: []",
        commit="`rm -rf`",
        target_repo_id="a`b",
        notes=["<img src=x>\n# heading"],
    )
    text = model_card(facts)
    head = text.split("---")[1]

    assert "license" not in head
    assert "base_model" not in head
    assert "<script>" not in text
    assert "\n# heading" not in text
    assert "rm -rf" not in text
    assert "made from a checkpoint that is not on the hub." in text
