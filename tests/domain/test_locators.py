from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflash_desktop.domain.locators import (
    ANNOTATION,
    IrNode,
    Locator,
    LocatorError,
    annotate,
    gguf_locators,
    read_ir,
)

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


def nodes(*names: str, dims: tuple[int, ...] = (-1, -1, HIDDEN)) -> tuple[IrNode, ...]:
    return tuple(IrNode(name, (dims,)) for name in names)


def entry_of(xml: bytes) -> dict[str, object]:
    found = ET.fromstring(xml).find(f"rt_info/{ANNOTATION}")  # noqa: S314 - written by the test
    assert found is not None
    value: dict[str, object] = json.loads(found.attrib["value"])
    return value


def located(count: int) -> tuple[Locator, ...]:
    return tuple(Locator(f"{NAME}{i}") for i in range(count))


def test_layers_are_found_by_their_names_in_order_of_their_numbers() -> None:
    xml = ir(*(layer(f"{NAME}{i}") for i in (10, 2, 0, 1, *range(3, 10))), layer("other"))
    found = gguf_locators(read_ir(xml).nodes, hidden_size=HIDDEN, layer_count=11)
    assert [locator.producer for locator in found] == [f"{NAME}{i}" for i in range(11)]
    assert {locator.output_index for locator in found} == {0}


def test_only_output_ports_count_as_shapes() -> None:
    assert read_ir(ir(layer("a", (1, 2)))).nodes == (IrNode("a", ((1, 2),)),)


def test_a_layer_inside_a_subgraph_is_not_one_of_the_model() -> None:
    body = f"<body><layers>{layer(NAME + '1')}</layers></body>"
    outer = f'<layer id="0" name="loop" type="Loop">{body}<output/></layer>'
    assert [node.name for node in read_ir(ir(outer)).nodes] == ["loop"]


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (nodes(f"{NAME}0", f"{NAME}2"), "layers 1$"),
        (nodes(f"{NAME}0"), "layers 1, 2$"),
        (nodes(*(f"{NAME}{i}" for i in (0, 1, 2, 3))), "3 layers, the graph also 3"),
        (nodes(*(f"{NAME}{i}" for i in (0, 1, 1, 2))), "two nodes"),
        (nodes(*(f"{NAME}{i}" for i in range(3)), dims=(-1, -1, 9)), "not .*8"),
        (nodes(*(f"{NAME}{i}" for i in range(3)), dims=(-1, HIDDEN)), "not .*8"),
        (tuple(IrNode(f"{NAME}{i}", ()) for i in range(3)), "not .*8"),
        (nodes("x", "model.layers.self_attn.add0.layer1"), "layers 0, 1, 2$"),
    ],
)
def test_an_incomplete_set_of_layers_is_refused_with_the_reason(
    found: tuple[IrNode, ...], reason: str
) -> None:
    with pytest.raises(LocatorError, match=reason):
        gguf_locators(found, hidden_size=HIDDEN, layer_count=3)


def test_a_long_list_of_missing_layers_is_shortened() -> None:
    with pytest.raises(LocatorError, match="0, 1, 2, 3, 4 and 25 more"):
        gguf_locators((), hidden_size=HIDDEN, layer_count=30)


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
    assert annotate(once, located(3)) is once


@pytest.mark.parametrize("damaged", ["{", "[]", '{"layers":{}}', ""])
def test_a_damaged_entry_is_replaced(damaged: str) -> None:
    value = damaged.replace('"', "&quot;")
    tail = f'<rt_info><{ANNOTATION} value="{value}" /><other value="1"/></rt_info>'
    edited = annotate(ir(tail=tail), located(1))
    assert list(json.loads(read_ir(edited).annotation or "")["layers"]) == ["0"]
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
        (ir(tail="<rt_info/><rt_info/>"), "two rt_info"),
        (ir(tail=f"<rt_info><{ANNOTATION}/><{ANNOTATION}/></rt_info>"), "two entries"),
        (ir(layer("a").replace("<dim>8<", "<dim>?<")), "dimension"),
        (ir().decode().encode("utf-16"), "UTF-8"),
        (ir(head='<?xml version="1.0" encoding="latin-1"?>'), "latin-1"),
        (ir(tail=f"<rt_info><{ANNOTATION}>x</{ANNOTATION}></rt_info>"), "as OpenVINO writes"),
        (ir(tail='<rt_info a="1"/>'), "as OpenVINO writes"),
    ],
)
def test_what_cannot_be_edited_safely_is_refused_with_the_reason(xml: bytes, reason: str) -> None:
    with pytest.raises(LocatorError, match=reason):
        annotate(xml, located(1))


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE net [<!ENTITY a "aa"><!ENTITY b "&a;&a;&a;">]>',
        '<!DOCTYPE net [<!ENTITY secret SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE net SYSTEM "http://127.0.0.1/evil.dtd">',
        "<!DOCTYPE net>",
    ],
)
def test_document_types_and_so_all_entities_are_refused(doctype: str) -> None:
    with pytest.raises(LocatorError, match="document type"):
        read_ir(ir(head=f'<?xml version="1.0"?>{doctype}\n'))


def test_entities_that_nobody_declared_are_refused() -> None:
    with pytest.raises(LocatorError, match="not well-formed"):
        read_ir(ir(tail="<rt_info>&secret;</rt_info>"))


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
    assert read_ir(edited).nodes == read_ir(xml).nodes
    assert annotate(edited, locators) is edited
    assert annotate(annotate(edited, located(2)), locators) == edited


@given(st.binary(max_size=400))
def test_no_bytes_at_all_end_in_anything_but_an_edit_or_a_refusal(noise: bytes) -> None:
    for xml in (noise, ir()[:120] + noise, ir().replace(b"2026", noise)):
        try:
            edited = annotate(xml, located(1))
        except LocatorError:
            continue
        assert read_ir(edited).annotation is not None
