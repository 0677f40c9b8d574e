"""Writes tensorboard_events.json: event records as the tensorboard package itself encodes them.

    .venv/bin/python tests/training/golden/tensorboard_events.py > tests/training/golden/tensorboard_events.json

Made with tensorboard 2.21.0 and protobuf 7.36.2.
"""

import io
import json

from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.plugins.hparams import metadata, plugin_data_pb2
from tensorboard.summary.writer.record_writer import RecordWriter

TIME = 1700000000.25


class Kept(io.BytesIO):
    def close(self):
        pass


def framed(event):
    kept = Kept()
    writer = RecordWriter(kept)
    writer.write(event.SerializeToString(deterministic=True))
    writer.flush()
    return kept.getvalue().hex()


def hparams(tag, content):
    value = summary_pb2.Summary.Value(tag=tag, tensor=metadata.NULL_TENSOR)
    value.metadata.plugin_data.plugin_name = metadata.PLUGIN_NAME
    value.metadata.plugin_data.content = content.SerializeToString(deterministic=True)
    return event_pb2.Event(wall_time=TIME, summary=summary_pb2.Summary(value=[value]))


def session_start():
    content = plugin_data_pb2.HParamsPluginData()
    start = content.session_start_info
    start.hparams["arm"].string_value = "learned"
    start.hparams["model.layers"].number_value = 2
    start.hparams["model.residual"].bool_value = True
    start.group_name = "study/task/learned 1a2b3c4d"
    start.start_time_secs = TIME
    return hparams(metadata.SESSION_START_INFO_TAG, content)


def session_end():
    content = plugin_data_pb2.HParamsPluginData()
    content.session_end_info.status = 1
    content.session_end_info.end_time_secs = TIME
    event = hparams(metadata.SESSION_END_INFO_TAG, content)
    event.step = 600
    return event


def scalars():
    values = [
        summary_pb2.Summary.Value(tag="training/loss", simple_value=1.5),
        summary_pb2.Summary.Value(tag="training/skipped", simple_value=0.0),
    ]
    return event_pb2.Event(wall_time=TIME, step=300, summary=summary_pb2.Summary(value=values))


print(
    json.dumps(
        {
            "version": framed(event_pb2.Event(wall_time=TIME, file_version="brain.Event:2")),
            "restart": framed(
                event_pb2.Event(
                    wall_time=TIME, step=301, session_log=event_pb2.SessionLog(status=event_pb2.SessionLog.START)
                )
            ),
            "session": framed(session_start()),
            "scalars": framed(scalars()),
            "end": framed(session_end()),
        },
        indent=1,
    )
)
