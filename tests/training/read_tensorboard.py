"""Prints as JSON what the tensorboard package reads below a folder: curves, and groups of the hparams page."""

import json
import sys

from tensorboard import context
from tensorboard.backend.event_processing import data_provider, plugin_event_multiplexer
from tensorboard.plugins import base_plugin
from tensorboard.plugins.hparams import api_pb2, backend_context, list_session_groups

multiplexer = plugin_event_multiplexer.EventMultiplexer(tensor_size_guidance={"scalars": 0})
multiplexer.AddRunsFromDirectory(sys.argv[1])
multiplexer.Reload()
provider = data_provider.MultiplexerDataProvider(multiplexer, sys.argv[1])

curves = {}
for run in sorted(multiplexer.Runs()):
    accumulator = multiplexer.GetAccumulator(run)
    tags = accumulator.PluginTagToContent("scalars") if "scalars" in accumulator.ActivePlugins() else {}
    curves[run] = {
        tag: [[e.step, float(e.tensor_proto.float_val[0])] for e in accumulator.Tensors(tag)] for tag in sorted(tags)
    }

request = context.RequestContext()
hparams = backend_context.Context(base_plugin.TBContext(data_provider=provider))
metadata = hparams.hparams_metadata(request, "")
experiment = hparams.experiment_from_metadata(
    request, "", True, metadata, hparams.hparams_from_data_provider(request, "", 0)
)
groups = list_session_groups.Handler(
    request,
    hparams,
    "",
    api_pb2.ListSessionGroupsRequest(
        slice_size=100,
        aggregation_type=api_pb2.AGGREGATION_AVG,
        allowed_statuses=[
            api_pb2.STATUS_UNKNOWN,
            api_pb2.STATUS_SUCCESS,
            api_pb2.STATUS_FAILURE,
            api_pb2.STATUS_RUNNING,
        ],
        col_params=[
            api_pb2.ColParams(metric=metric.name) for metric in experiment.metric_infos
        ],
        include_metrics=True,
    ),
).run()


def plain(value):
    return getattr(value, value.WhichOneof("kind"))


print(
    json.dumps(
        {
            "curves": curves,
            "groups": {
                group.name: {
                    "sessions": sorted(session.name for session in group.sessions),
                    "statuses": sorted({api_pb2.Status.Name(session.status) for session in group.sessions}),
                    "parameters": {key: plain(value) for key, value in group.hparams.items()},
                    "metrics": {metric.name.tag: metric.value for metric in group.metric_values},
                }
                for group in groups.session_groups
            },
        }
    )
)
