// Types that are known without an import: to the folder that has them, and to all above it.
type Place = import("./base/cell_place.js").Place;
type Point = import("./base/cell_place.js").Point;
type Changed = import("./rules/change_settings.js").Changed;
type Gradient = import("./rules/recipes.js").Gradient;
type Recipe = import("./rules/recipes.js").Recipe;
type Settings = import("./rules/settings.js").Settings;
type Stages = import("./rules/settings.js").Stages;
type Tensor = import("./rules/settings.js").Tensor;
type Geometry = import("./rules/spec.js").Geometry;
type Pair = import("./rules/spec.js").Pair;
type Spec = import("./rules/spec.js").Spec;
type Equation = import("./picture/panels.js").Equation;
type Numbers = import("./numbers/latest_request.js").Numbers;
type Model = import("./numbers/model.js").Model;
type Buffers = import("./numbers/from_kernel.js").Buffers;
type Follow = import("./numbers/model.js").Follow;
