"""COCO captions: annotations are references by image, a list of results is candidates by image."""

from collections.abc import Iterable, Mapping
from typing import Any

from textassay.corpus.errors import InputError
from textassay.corpus.fields import no_field
from textassay.corpus.item_records import CANDIDATES, ONE_SYSTEM, REFERENCES, Entry, Side, id_of, kind_of
from textassay.corpus.strings import check_text

ANNOTATIONS = "annotations"
IMAGE = "image_id"
CAPTION = "caption"


def is_caption(record: Any) -> bool:
    """Whether a record is one caption of an image, and not an item."""
    return isinstance(record, dict) and {IMAGE, CAPTION} <= set(record) and not {*REFERENCES, *CANDIDATES} & set(record)


def annotation_entries(document: Mapping[str, Any], where: str, *, side: Side) -> list[Entry]:
    """The captions of an annotation file; images without a caption stay as items without references."""
    images = _listed(document, "images", where) if side == "references" else []
    known = {}
    for number, image in enumerate(images, 1):
        place = f"{where}: image {number}"
        known[_image_id(image, place, "id")] = place
    captions = _listed(document, ANNOTATIONS, where)
    places = ((f"{where}: annotation {number}", caption) for number, caption in enumerate(captions, 1))
    return caption_entries(places, side=side, images=known)


def caption_entries(
    captions: Iterable[tuple[str, Any]], *, side: Side, images: Mapping[str, str] | None = None
) -> list[Entry]:
    """Captions with their places gathered by image, in the order in which images appear."""
    places = dict(images or {})
    texts: dict[str, list[str]] = {image: [] for image in places}
    for place, caption in captions:
        image = _image_id(caption, place, IMAGE)
        if not isinstance(text := caption.get(CAPTION), str):
            if CAPTION not in caption:
                raise no_field(list(caption), place, field=CAPTION, hint="")
            raise InputError(f"{place}: 'caption' is {kind_of(text)}; wanted a string")
        places.setdefault(image, place)
        texts.setdefault(image, []).append(check_text(text, f"{place}: 'caption'"))
    if side == "references":
        return [Entry(places[image], image, tuple(texts[image])) for image in texts]
    return [Entry(places[image], image, candidates={ONE_SYSTEM: tuple(texts[image])}) for image in texts]


def _image_id(record: Any, place: str, field: str) -> str:
    if not isinstance(record, dict):
        raise InputError(f"{place}: {kind_of(record)}; wanted an object with '{field}'")
    if field not in record:
        raise no_field(list(record), place, field=field, hint="")
    image = id_of(record, place, names=(field,))
    if image is None:
        raise InputError(f"{place}: '{field}' is null or blank; wanted a string or a whole number")
    return image


def _listed(document: Mapping[str, Any], field: str, where: str) -> list[Any]:
    records = document.get(field) or []
    if not isinstance(records, list):
        raise InputError(f"{where}: '{field}' is {kind_of(records)}; wanted a list of objects")
    return records
