"""The engine's jobs about pictures: load a model that makes them, and make one."""

from __future__ import annotations

import gc
from time import perf_counter
from typing import TYPE_CHECKING

from dflash_desktop.domain.image_models import LoadedImageModel
from dflash_desktop.workers.image_folder import read_image_model
from dflash_desktop.workers.image_pipeline import ImagePipeline, Step, pipeline_class
from dflash_desktop.workers.model_folder import ModelFolderError
from dflash_desktop.workers.protocol import (
    ImageModelLoaded,
    LoadProgress,
    PictureMade,
    PictureStep,
)

if TYPE_CHECKING:
    from dflash_desktop.workers.engine import JobChannel
    from dflash_desktop.workers.protocol import LoadImageModel, MakePicture


class ImageJobs:
    """Holds the model that makes pictures, if one is loaded."""

    def __init__(self, runtime: JobChannel) -> None:
        self._runtime = runtime
        self._pipeline: ImagePipeline | None = None

    def load(self, command: LoadImageModel) -> None:
        """Load the model; raises `ModelFolderError` and what the runtime raises."""
        from dflash_desktop.workers.device_list import meant_device

        started_at = perf_counter()
        self.let_go()
        self._tell(command.job, "Checking the model's files")
        read_image_model(command.model_dir)
        device = meant_device(command.device, command.device_name)
        self._tell(command.job, "Loading the parts of the image model")
        pipeline = ImagePipeline(command.model_dir, device=device.id, cache_dir=command.cache_dir)
        pipeline.load()
        self._pipeline = pipeline
        model = LoadedImageModel(
            title=command.title,
            folder=command.model_dir,
            device=device.id,
            device_name=device.full_name,
            load_seconds=perf_counter() - started_at,
        )
        self._runtime.send(ImageModelLoaded(command.job, model))

    def make(self, command: MakePicture) -> None:
        """Make the picture; raises what the runtime raises."""
        if self._pipeline is None:
            raise ModelFolderError("nothing_loaded", "no image model is loaded")
        job, started_at = command.job, perf_counter()
        if self._pipeline.will_load(pipeline_class(command.request)):
            self._tell(job, "Loading the parts for this kind of picture")
        pixels = self._pipeline.make(
            command.request,
            on_step=lambda step: self._runtime.send(_told(job, step)),
            is_cancelled=lambda: self._runtime.is_cancelled(job),
        )
        self._runtime.send(PictureMade(job, perf_counter() - started_at, pixels))

    def let_go(self) -> None:
        """Free the model's memory, if one is loaded."""
        if self._pipeline is not None:
            self._pipeline = None
            gc.collect()

    def _tell(self, job: int, stage: str) -> None:
        self._runtime.send(LoadProgress(job, stage))


def _told(job: int, step: Step) -> PictureStep:
    return PictureStep(job, step.done, step.total, step.seconds_per_step, step.preview)
