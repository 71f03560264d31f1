"""The names that a person can type, for type checkers, and for ``__init__.py``, which loads each on its first use."""

from convviz import lab as lab
from convviz import nn as nn
from convviz.app.app import App as App
from convviz.app.explain import explain as explain
from convviz.app.open_lesson import lesson as lesson
from convviz.check import _Callable
from convviz.check.api import grade as grade
from convviz.check.api import report as report
from convviz.check.report import CheckFailed as CheckFailed
from convviz.courses.audit import Audit as Audit
from convviz.courses.audit import audit as audit
from convviz.courses.exercise_sheet import Exercise as Exercise
from convviz.courses.find_exercise import exercise as exercise
from convviz.export.article.page import export_article as export_article
from convviz.export.es_module import export_module as export_module
from convviz.export.page import export_html as export_html
from convviz.export.picture import export_picture as export_picture
from convviz.features.graph.public import graph as graph
from convviz.features.network.export_page import export_network as export_network
from convviz.features.network.public import network as network
from convviz.geometry.spec import ConvSpec as ConvSpec
from convviz.geometry.taps import taps as taps
from convviz.ops.avg_pool2d import avg_pool2d as avg_pool2d
from convviz.ops.conv2d import conv2d as conv2d
from convviz.ops.conv2d_bias import conv2d_bias as conv2d_bias
from convviz.ops.conv2d_input import conv2d_input as conv2d_input
from convviz.ops.conv2d_weight import conv2d_weight as conv2d_weight
from convviz.ops.conv_transpose2d import conv_transpose2d as conv_transpose2d
from convviz.ops.convolution_backward import convolution_backward as convolution_backward
from convviz.ops.detect_torch_backend import which_backend as which_backend
from convviz.ops.linear import linear as linear
from convviz.ops.max_pool2d import max_pool2d as max_pool2d
from convviz.ops.stages import Stages as Stages
from convviz.ops.stages import stages as stages

__version__: str
check: _Callable  # the package, which is its own main function as well
