"""The gallery: every picture keeps its settings, and nothing that is damaged harms the rest."""

from __future__ import annotations

import io
import json
import os
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dflash_desktop.domain.image_models import ImageKind
from dflash_desktop.domain.made_picture import MadePicture, PictureRecipe, Pixels
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services.gallery_store import GalleryStore, parameters_text
from dflash_desktop.services.png_file import png_bytes, png_texts, with_texts
from dflash_desktop.services.safe_json import encode_json

RECIPE = PictureRecipe(
    prompt="Ein Kätzchen 🐈 on a wall",
    negative_prompt="fog",
    width=4,
    height=2,
    steps=20,
    guidance=7.5,
    seed=42,
    model_id="owner/tiny",
    model_title="Tiny",
    kind=ImageKind.STABLE_DIFFUSION,
    runtime="2026.4.1",
    device_name="CPU",
)
PIXELS = Pixels(4, 2, bytes(range(24)))
PNG = png_bytes(PIXELS, {})


@pytest.fixture
def store(tmp_path: Path) -> GalleryStore:
    return GalleryStore(tmp_path / "gallery")


def add(store: GalleryStore, **changes: str) -> MadePicture:
    return store.add(PIXELS, replace(RECIPE, **changes), seconds=1.5)  # type: ignore[arg-type]


@settings(deadline=None)
@given(st.integers(1, 9), st.integers(1, 9), st.randoms(use_true_random=False))
def test_any_pixels_come_back_as_they_were(width: int, height: int, random: object) -> None:
    from PIL import Image

    rgb = random.randbytes(width * height * 3)  # type: ignore[attr-defined]
    with Image.open(io.BytesIO(png_bytes(Pixels(width, height, rgb), {}))) as image:
        assert image.size == (width, height)
        assert image.mode == "RGB"
        assert image.tobytes() == rgb


def test_a_picture_survives_a_restart_with_all_its_settings(store: GalleryStore) -> None:
    from PIL import Image

    made = add(store)
    again = GalleryStore(store.path(made.id).parent)
    (entry,) = again.list()
    assert entry.picture == made
    assert made.recipe == RECIPE
    with Image.open(again.path(made.id)) as image:
        assert image.tobytes() == PIXELS.rgb
        assert image.info["srgb"] == 0


def test_the_settings_are_in_the_file_too_in_our_form_and_in_that_of_others(
    store: GalleryStore,
) -> None:
    made = add(store)
    path = store.path(made.id)
    path.with_suffix(".json").unlink()
    (entry,) = GalleryStore(path.parent).list()
    assert entry.picture == made
    assert png_texts(path)["parameters"] == parameters_text(RECIPE)
    assert "Negative prompt: fog" in parameters_text(RECIPE)
    assert "Steps: 20, CFG scale: 7.5, Seed: 42, Size: 4x2" in parameters_text(RECIPE)


def test_nothing_of_this_machine_is_in_a_picture(store: GalleryStore, tmp_path: Path) -> None:
    path = store.path(add(store).id)
    written = path.read_bytes() + path.with_suffix(".json").read_bytes()
    for private in (str(tmp_path), str(Path.home()), os.environ.get("USER") or "\0none"):
        assert private.encode() not in written


def test_the_newest_is_first(store: GalleryStore) -> None:
    ids = [add(store, prompt=str(i)).id for i in range(5)]
    assert sorted(entry.id for entry in store.list()) == sorted(ids)
    times = [entry.picture.made_at for entry in store.list() if entry.picture]
    assert times == sorted(times, reverse=True)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b'{"version": 99}',
        b"[" * 100_000,
        encode_json({"version": 1, "picture": {"id": "x", "made_at": "2026-01-01T00:00:00"}}),
    ],
)
def test_damaged_settings_beside_a_picture_are_read_from_the_picture(
    store: GalleryStore, content: bytes
) -> None:
    made = add(store)
    store.path(made.id).with_suffix(".json").write_bytes(content)
    (entry,) = GalleryStore(store.path(made.id).parent).list()
    assert entry.picture == made


def test_damaged_and_foreign_pictures_are_listed_and_left_alone(store: GalleryStore) -> None:
    good = add(store)
    folder = store.path(good.id).parent
    (folder / "cut.png").write_bytes(store.path(good.id).read_bytes()[:40])
    (folder / "empty.png").write_bytes(b"")
    (folder / "text.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"\xff" * 400)
    entries = {entry.id: entry for entry in GalleryStore(folder).list()}
    assert entries[good.id].picture == good
    assert {name for name, entry in entries.items() if entry.picture is None} == {
        "cut",
        "empty",
        "text",
    }
    assert (folder / "empty.png").exists()


def test_a_time_without_a_zone_does_not_break_the_order(store: GalleryStore) -> None:
    made = add(store)
    add(store)
    beside = store.path(made.id).with_suffix(".json")
    content = json.loads(beside.read_bytes())
    content["picture"]["made_at"] = "2026-01-01T00:00:00"
    beside.write_text(json.dumps(content))
    assert len(GalleryStore(beside.parent).list()) == 2


def test_deleting_can_be_undone_until_the_trash_is_emptied(store: GalleryStore) -> None:
    made, other = add(store), add(store)
    store.delete(made.id)
    assert [entry.id for entry in store.list()] == [other.id]
    store.restore(made.id)
    assert {entry.picture for entry in store.list()} == {made, other}
    store.delete(made.id)
    store.empty_trash()
    with pytest.raises(AppError) as caught:
        store.restore(made.id)
    assert caught.value.problem.code == "picture_gone"
    assert [entry.id for entry in store.list()] == [other.id]


def test_words_about_a_picture_are_kept(store: GalleryStore) -> None:
    made = add(store)
    store.describe(made.id, "  A cat sits on a wall. ")
    (entry,) = store.list()
    assert entry.picture is not None
    assert entry.picture.alt_text == "A cat sits on a wall."


@pytest.mark.parametrize("bad", ["../secret", "a/b", "", "a\\b", "x" * 200, ".."])
def test_an_id_never_leads_out_of_the_gallery(store: GalleryStore, bad: str) -> None:
    for ask in (store.path, store.delete, store.restore):
        with pytest.raises(AppError):
            ask(bad)


def test_a_disk_that_refuses_is_told_in_words(tmp_path: Path) -> None:
    (tmp_path / "gallery").write_bytes(b"")  # a file where the folder should be
    with pytest.raises(AppError) as caught:
        add(GalleryStore(tmp_path / "gallery"))
    assert "could not be saved" in caught.value.problem.headline


def test_a_thousand_pictures_are_listed_quickly(tmp_path: Path) -> None:
    """50 ms here; the bound is for a busy machine, and far below reading a thousand PNGs."""
    png = png_bytes(PIXELS, {})
    for number in range(1000):
        made = MadePicture(f"p{number:04}", datetime.now(UTC), RECIPE, 1.0)
        (tmp_path / f"{made.id}.png").write_bytes(png)
        (tmp_path / f"{made.id}.json").write_bytes(encode_json({"version": 1, "picture": made}))
    store = GalleryStore(tmp_path)
    started = time.perf_counter()
    entries = store.list()
    first = time.perf_counter() - started
    assert len(entries) == 1000
    assert all(entry.picture for entry in entries)
    started = time.perf_counter()
    store.list()
    again = time.perf_counter() - started
    assert first < 1.0
    assert again < first


def test_what_a_person_says_is_on_a_picture_goes_with_the_saved_file(
    store: GalleryStore, tmp_path: Path
) -> None:
    from PIL import Image

    made, saved = add(store), tmp_path / "saved.png"
    kept = store.path(made.id).read_bytes()
    store.copy_to(made.id, saved)
    assert saved.read_bytes() == kept

    store.describe(made.id, "Ein Kätzchen 🐈")
    store.copy_to(made.id, saved)
    assert store.path(made.id).read_bytes() == kept
    with Image.open(saved) as image:
        assert image.text["Description"] == "Ein Kätzchen 🐈"  # type: ignore[attr-defined]
        assert image.tobytes() == PIXELS.rgb

    other = GalleryStore(tmp_path / "other")
    other.path("back").parent.mkdir()
    other.path("back").write_bytes(saved.read_bytes())
    (entry,) = other.list()
    assert entry.picture is not None
    assert entry.picture.alt_text == "Ein Kätzchen 🐈"
    other.describe("back", "")
    other.copy_to("back", saved)
    assert "Description" not in png_texts(saved)


@pytest.mark.parametrize("damaged", [b"", b"GIF89a", PNG[:8], PNG[:20], PNG[8:]])
def test_words_are_put_into_whole_pictures_only(damaged: bytes) -> None:
    assert with_texts(damaged, {"Description": "A cat"}) == damaged
    assert with_texts(with_texts(PNG, {"Description": "A cat"}), {"Description": ""}) == PNG


@pytest.mark.parametrize("name", ["{id} - Copy", "Kopie von {id}", "{id} (2)", "Bild 1.final"])
def test_a_copy_that_a_person_made_in_the_folder_is_removed_and_saved_like_any_other(
    store: GalleryStore, tmp_path: Path, name: str
) -> None:
    made = add(store)
    copy = store.path(made.id).with_name(f"{name.format(id=made.id)}.png")
    copy.write_bytes(store.path(made.id).read_bytes())
    (entry,) = [one for one in store.list() if one.path == copy]
    store.describe(entry.id, "A copy")
    store.copy_to(entry.id, tmp_path / "saved.png")
    assert png_texts(tmp_path / "saved.png")["Description"] == "A copy"
    store.delete(entry.id)
    assert [one.id for one in store.list()] == [made.id]
    store.restore(entry.id)
    (again,) = [one for one in store.list() if one.path == copy]
    assert again.picture is not None
    assert again.picture.alt_text == "A copy"


@pytest.mark.parametrize("picture_id", ["../one", "a/b", "a\\b", "C:one", "", "x" * 201, "a\0b"])
def test_an_id_is_never_a_way_out_of_the_folder(store: GalleryStore, picture_id: str) -> None:
    with pytest.raises(AppError) as caught:
        store.path(picture_id)
    assert caught.value.problem.code == "picture_gone"


@pytest.mark.parametrize(
    ("part", "value"),
    [
        (("made_at",), "0001-01-01T00:00:00+14:00"),
        (("made_at",), "9999-12-31T23:59:59-14:00"),
        (("seconds",), 1e308),
        (("recipe", "steps"), 10**400),
        (("recipe", "width"), -1),
        (("recipe", "seed"), -1),
        (("recipe", "strength"), 1e300),
        (("recipe", "guidance"), -1e300),
    ],
)
def test_settings_that_no_form_can_hold_are_taken_for_damaged(
    store: GalleryStore, part: tuple[str, ...], value: object
) -> None:
    path = store.path(add(store).id)
    content = json.loads(path.with_suffix(".json").read_bytes())
    place = content["picture"]
    for name in part[:-1]:
        place = place[name]
    place[part[-1]] = value
    path.with_suffix(".json").unlink()
    path.write_bytes(png_bytes(PIXELS, {"DFlash Desktop": json.dumps(content)}))
    (entry,) = store.list()
    assert entry.picture is None
