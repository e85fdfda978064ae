"""Lightning: a healthy DDP run, one that asks for more GPUs than there are, and one with a shape error.

Needs: two GPUs, lightning. Run: python train.py {healthy|gpus|shape}
"""

import sys

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Classifier(lightning.LightningModule):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(width, 10))

    def training_step(self, batch, _):
        images, labels = batch
        loss = nn.functional.cross_entropy(self.layers(images), labels)
        self.log("loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


if __name__ == "__main__":
    case = sys.argv[1]
    data = DataLoader(TensorDataset(torch.randn(512, 128), torch.randint(0, 10, (512,))), batch_size=32)
    trainer = lightning.Trainer(
        accelerator="gpu",
        devices=4 if case == "gpus" else 2,
        strategy="ddp",
        max_epochs=2,
        enable_progress_bar=False,
        logger=False,
        enable_checkpointing=False,
    )
    trainer.fit(Classifier(width=32 if case == "shape" else 64), data)
    print("finished", flush=True)
