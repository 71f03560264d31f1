// Types that are known without an import: to the folder that has them, and to all above it.
type Place = import("./base/cell_place.js").Place;
type Point = import("./base/cell_place.js").Point;
type Changed = import("./rules/change_settings.js").Changed;
type Gradient = import("./rules/recipe_steps.js").Gradient;
type Recipe = import("./rules/recipe_steps.js").Recipe;
type Settings = import("./rules/settings_and_tensors.js").Settings;
type Stages = import("./rules/settings_and_tensors.js").Stages;
type Tensor = import("./rules/settings_and_tensors.js").Tensor;
type Geometry = import("./rules/conv_geometry.js").Geometry;
type Pair = import("./rules/conv_geometry.js").Pair;
type Spec = import("./rules/conv_geometry.js").Spec;
type Equation = import("./picture/panels.js").Equation;
type Numbers = import("./numbers/latest_request.js").Numbers;
type Model = import("./numbers/page_model.js").Model;
type Buffers = import("./numbers/ask_kernel.js").Buffers;
type Follow = import("./numbers/page_model.js").Follow;
