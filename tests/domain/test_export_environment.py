"""Which environment a model is exported in, decided before anything starts."""

from __future__ import annotations

import pytest

from dflash_desktop.domain.export_environment import choose_environment, export_environment
from dflash_desktop.domain.model_facts import ModelKind
from dflash_desktop.domain.problems import AppError


@pytest.mark.parametrize(
    ("model_type", "environment_id"),
    [
        ("qwen3_5", "transformers-5.2"),
        ("qwen3_5_text", "transformers-5.2"),
        ("qwen3_5_moe", "transformers-5.2"),
        ("gemma4", "transformers-5.5"),
        ("qwen2_vl", "transformers-4.57"),
        ("qwen2_5_vl", "transformers-4.57"),
        ("qwen3_vl", "transformers-4.57"),
        ("qwen3_next", "transformers-4.57"),
        ("qwen3_moe", "transformers-5.5"),
        ("qwen3", "transformers-5.5"),
        ("llama", "transformers-5.5"),
    ],
)
def test_a_model_goes_to_the_newest_release_that_exports_it(
    model_type: str, environment_id: str
) -> None:
    assert choose_environment(model_type).id == environment_id


def test_a_dflash_draft_goes_where_its_config_says() -> None:
    assert choose_environment("qwen3", kind=ModelKind.DFLASH).id == "transformers-5.5"


@pytest.mark.parametrize("model_type", ["foo_next", "", "QWEN3", "x" * 5000, "../../etc"])
def test_a_kind_that_no_exporter_knows_is_refused_in_words(model_type: str) -> None:
    with pytest.raises(AppError) as refused:
        choose_environment(model_type)
    problem = refused.value.problem
    assert problem.code == "export_kind_unknown"
    assert "Nothing was started" in problem.advice
    assert len(problem.headline) < 200


@pytest.mark.parametrize("model_type", ["deepseek_v3", "gemma4_unified", "muse_glimmer"])
def test_a_kind_for_another_release_says_which_it_needs(model_type: str) -> None:
    with pytest.raises(AppError) as refused:
        choose_environment(model_type)
    assert refused.value.problem.code == "export_kind_unsupported"
    assert "transformers " in refused.value.problem.advice


@pytest.mark.parametrize("kind", [ModelKind.DFLASH2, ModelKind.DSPARK])
def test_a_draft_that_no_release_knows_needs_the_development_builds_and_a_persons_word(
    kind: ModelKind,
) -> None:
    with pytest.raises(AppError) as refused:
        choose_environment("qwen3", kind=kind)
    assert refused.value.problem.code == "export_needs_development"

    chosen = choose_environment("qwen3", kind=kind, allow_development=True)
    assert chosen.is_development
    assert "nobody has checked" in chosen.used_for


def test_allowing_development_builds_changes_nothing_for_what_a_release_exports() -> None:
    assert not choose_environment("qwen3", allow_development=True).is_development


def test_an_environment_that_there_is_not_is_refused() -> None:
    with pytest.raises(AppError, match="export_environment_unknown"):
        export_environment("transformers-9")
