"""Edits of rt_info as text: the entry is there afterwards, and nothing else has changed."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflash_desktop.domain.ir_reader import IrError, read_ir_graph
from dflash_desktop.domain.locators import ANNOTATION, Locator, annotation_value
from dflash_desktop.domain.rt_info_edit import RtInfoEditError, edit_rt_info, spliced

if TYPE_CHECKING:
    from dflash_desktop.domain.ir_graph import IrGraph

HIDDEN = 8
NAME = "model.layers.self_attn.add1.layer"
RT_INFO = '\t<rt_info>\n\t\t<info name="OpenVINO Runtime" value="2026" />\n\t</rt_info>\n'


def layer(name: str, dims: tuple[int, ...] = (-1, -1, HIDDEN)) -> str:
    ports = "".join(f"<dim>{dim}</dim>" for dim in dims)
    return (
        f'\t\t<layer id="1" name="{name}" type="Add"><input><port id="0"><dim>7</dim></port>'
        f'</input><output><port id="2">{ports}</port></output></layer>\n'
    )


def ir(*layers: str, tail: str = RT_INFO, head: str = '<?xml version="1.0"?>\n') -> bytes:
    body = "".join(layers) or layer("x")
    return f'{head}<net name="m">\n\t<layers>\n{body}\t</layers>\n{tail}</net>\n'.encode()


def pieces(xml: bytes, size: int) -> list[bytes]:
    return [xml[start : start + size] for start in range(0, len(xml), size)] or [b""]


def read(xml: bytes) -> IrGraph:
    return read_ir_graph([xml])


def edit(xml: bytes, values: dict[tuple[str, ...], str], *, size: int = 1 << 20) -> bytes:
    def read_at(start: int, count: int) -> bytes:
        return xml[start : start + count]

    splices = edit_rt_info(read(xml).marks, values, read_at)
    return b"".join(spliced(pieces(xml, size), splices))


def annotate(xml: bytes, locators: tuple[Locator, ...]) -> bytes:
    return edit(xml, {(ANNOTATION,): annotation_value(locators)})


def entry_of(xml: bytes) -> dict[str, object]:
    found = ET.fromstring(xml).find(f"rt_info/{ANNOTATION}")  # noqa: S314 - written by the test
    assert found is not None
    value: dict[str, object] = json.loads(found.attrib["value"])
    return value


def located(count: int) -> tuple[Locator, ...]:
    return tuple(Locator(f"{NAME}{i}") for i in range(count))


def test_the_entry_goes_on_a_line_of_its_own_and_nothing_else_changes() -> None:
    xml = ir()
    edited = annotate(xml, located(2))
    lines = edited.splitlines(keepends=True)
    added = [line for line in lines if ANNOTATION.encode() in line]
    assert len(added) == 1
    assert added[0].startswith(b"\t\t<hidden")
    assert b"".join(line for line in lines if line not in added) == xml
    assert entry_of(edited) == {
        "layers": {
            "0": {"producer": f"{NAME}0", "output_index": 0},
            "1": {"producer": f"{NAME}1", "output_index": 0},
        }
    }


def test_annotating_twice_changes_nothing_the_second_time() -> None:
    once = annotate(ir(), located(3))
    assert annotate(once, located(3)) == once


@pytest.mark.parametrize("damaged", ["{", "[]", '{"layers":{}}', ""])
def test_a_damaged_entry_is_replaced(damaged: str) -> None:
    value = damaged.replace('"', "&quot;")
    tail = f'<rt_info><{ANNOTATION} value="{value}" /><other value="1"/></rt_info>'
    edited = annotate(ir(tail=tail), located(1))
    assert list(json.loads(read(edited).rt_info[ANNOTATION,])["layers"]) == ["0"]
    assert edited.count(ANNOTATION.encode()) == 1
    assert b'<other value="1"/>' in edited


@pytest.mark.parametrize("tail", ["", "<rt_info/>", "\t<rt_info />\n", "<rt_info></rt_info>"])
def test_a_model_without_an_rt_info_block_gets_one(tail: str) -> None:
    assert "layers" in entry_of(annotate(ir(tail=tail), located(1)))


def test_a_block_of_one_layer_is_not_taken_for_the_models() -> None:
    inner = '<layer id="0" name="a" type="Add"><rt_info><attribute/></rt_info></layer>'
    edited = annotate(ir(inner), located(1))
    assert inner.encode() in edited
    assert "layers" in entry_of(edited)


def test_windows_line_ends_stay() -> None:
    edited = annotate(ir().replace(b"\n", b"\r\n"), located(1))
    assert edited.count(b"\n") == edited.count(b"\r\n")


@pytest.mark.parametrize(
    ("xml", "reason"),
    [
        (b"", "not well-formed"),
        (ir()[:-20], "not well-formed"),
        (b"<html><body>Sign in</body></html>", "not an OpenVINO model"),
        (b"<net/>", "not an OpenVINO model"),
        (ir(tail="<rt_info/><rt_info/>"), "2 elements rt_info"),
        (ir(tail=f"<rt_info><{ANNOTATION}/><{ANNOTATION}/></rt_info>"), "2 elements"),
        (ir(layer("a").replace("<dim>8<", "<dim>?<")), "dimension"),
        (ir().decode().encode("utf-16"), "UTF-8"),
        (ir(head='<?xml version="1.0" encoding="latin-1"?>'), "latin-1"),
        (ir(tail=f"<rt_info><{ANNOTATION}>x</{ANNOTATION}></rt_info>"), "as OpenVINO writes"),
        (ir(tail='<rt_info a="1"/>'), "as OpenVINO writes"),
    ],
)
def test_what_cannot_be_edited_safely_is_refused_with_the_reason(xml: bytes, reason: str) -> None:
    with pytest.raises((IrError, RtInfoEditError), match=reason):
        annotate(xml, located(1))


any_names = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=20
)
any_tails = st.sampled_from(
    ["", "<rt_info/>", RT_INFO, RT_INFO.replace("\n", ""), "<!-- </rt_info> -->" + RT_INFO]
)


@given(names=st.lists(any_names, min_size=1, max_size=6), tail=any_tails, windows=st.booleans())
def test_any_producer_survives_the_way_into_the_text_and_back(
    names: list[str], tail: str, windows: bool
) -> None:
    xml = ir(tail=tail)
    if windows:
        xml = xml.replace(b"\n", b"\r\n")
    locators = tuple(Locator(name, index) for index, name in enumerate(names))
    edited = annotate(xml, locators)
    expected = {str(i): {"producer": name, "output_index": i} for i, name in enumerate(names)}
    assert entry_of(edited) == {"layers": expected}
    assert read(edited).layers == read(xml).layers
    assert annotate(edited, locators) == edited
    assert annotate(annotate(edited, located(2)), locators) == edited


@given(st.binary(max_size=400))
def test_no_bytes_at_all_end_in_anything_but_an_edit_or_a_refusal(noise: bytes) -> None:
    for xml in (noise, ir()[:120] + noise, ir().replace(b"2026", noise)):
        try:
            edited = annotate(xml, located(1))
        except (IrError, RtInfoEditError):
            continue
        assert read(edited).rt_info[ANNOTATION,]


MARKER = ("dflash_mode",)
MASK = ("dflash", "mask_token_id")
LAYERS = ("dflash", "target_layer_ids")
WANTED = {MARKER: "True", MASK: "3", LAYERS: "1,2,3"}


@pytest.mark.parametrize(
    "inside",
    [
        "",
        "<dflash/>",
        "<dflash></dflash>",
        '<dflash><mask_token_id value="9"/></dflash><dflash_mode value="False" />',
        '<dflash>\n<mask_token_id value="x" />\n<target_layer_ids value="" />\n</dflash>',
    ],
)
def test_nested_entries_are_added_and_replaced_together(inside: str) -> None:
    other = '<other><mask_token_id value="7"/></other>'
    edited = edit(ir(tail=f"\t<rt_info>\n\t{inside}\n\t{other}\t</rt_info>\n"), WANTED)
    assert {path: read(edited).rt_info[path] for path in WANTED} == WANTED
    assert read(edited).rt_info["other", "mask_token_id"] == "7"
    assert edited.count(b"<dflash>") == 1


@given(st.integers(min_value=1, max_value=400), st.booleans())
def test_where_the_text_is_cut_into_pieces_makes_no_difference(size: int, is_there: bool) -> None:
    inside = '<dflash><mask_token_id value="999999"/></dflash>' if is_there else "<a/>"
    xml = ir(tail=f"<rt_info>{inside}<dflash_mode value='no'/></rt_info>")
    assert edit(xml, WANTED, size=size) == edit(xml, WANTED)


def test_an_element_that_is_there_twice_is_not_edited() -> None:
    tail = '<rt_info><dflash a="1"/><dflash b="1"/></rt_info>'
    with pytest.raises(RtInfoEditError, match="2 elements dflash"):
        edit(ir(tail=tail), {MASK: "3"})
