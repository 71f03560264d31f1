"""What students call things: names of arguments, of keys in a dict and of results, each with what it stands for."""

from __future__ import annotations

SYNONYMS: dict[str, str] = {
    "input": """
        input x xs inp inputs image images img imgs a a_prev aprev data xin x_in in_data activation_prev a_in""",
    "weight": "weight weights w ws kernel kernels k kern filter filters filt flt theta",
    "bias": "bias biases b bs beta",
    "grad_output": """
        grad_output grad_outputs grad_out gradoutput dout dz dy gy g gz grad upstream outputs_gradient
        output_gradient delta deltas d_out doutput d_output dl_dout dldout dl_dy dldy dl_dz dldz grad_y
        gradout grad_z upstream_grad upstream_gradient output_grad out_grad gout d_l_d_out dl_doutput error
        dloss_dout dldo dl_do dldz""",
    "stride": "stride strides s step steps",
    "padding": "padding pad pads p pad_width padding_size",
    "dilation": "dilation dilations d dil dilate dilation_rate rate",
    "groups": "groups group g num_groups n_groups feature_group_count",
    "padding_mode": "padding_mode pad_mode mode border_mode border",
    "output_padding": "output_padding out_padding outpad op extra remainder output_pad",
    "input_size": """
        input_size input_shape x_shape xshape in_shape in_size insize x_size shape_x image_shape output_size""",
    "weight_size": """
        weight_size weight_shape w_shape wshape kernel_shape filter_shape kernel_size filter_size f k ksize
        k_size""",
    "in_channels": """
        in_channels in_channel c_in cin in_planes inplanes n_c_prev in_features input_channels n_in in_dim input_dim
        input_size in_size fan_in""",
    "out_channels": """
        out_channels out_channel c_out cout out_planes outplanes n_c out_features output_channels
        num_filters n_filters n_out out_dim output_dim output_size out_size fan_out""",
    "kernel_size": "kernel_size k ksize kernel filter_size f size",
    "cache": "cache caches saved memory cached",
    "params": """
        conv_param conv_params hparameters hparams hp hyper opts params param parameters config options hyperparameters
        hparam""",
    "output": "output out y z result res outputs conv",
    "grad_input": """
        grad_input dx da_prev da dinput gx grad_x din d_input dl_dx dldx dinputs grad_inputs input_grad
        dx_out dimg""",
    "grad_weight": """
        grad_weight dw dkernel gw grad_w dk dfilter dfilters d_weight dl_dw dldw dweight dweights dkernels
        grad_kernel weight_grad grad_weights w_grad k_grad kernel_grad weights_grad weight_gradient weights_gradient
        kernel_gradient kernels_gradient filters_gradient grad_k d_kernel d_filters dl_dk dl_dfilters""",
    "grad_bias": """
        grad_bias db gb grad_b dbias d_bias dl_db dldb bias_grad dbiases b_grad biases_grad bias_gradient
        biases_gradient grad_biases""",
}  # fmt: skip
# The last part of a name says which axis it is of: stride_h, pad_w, kernel_height.
AXES = {"h": 0, "height": 0, "y": 0, "w": 1, "width": 1, "x": 1}

_TABLES: dict[str, frozenset[str]] = {
    role: frozenset(name.replace("_", "") for name in names.split()) for role, names in SYNONYMS.items()
}


def role_of(name: str, among: tuple[str, ...]) -> str | None:
    """Return what a name stands for, out of those it may stand for here; ``"stride.0"`` is that of the first axis."""
    plain = name.lower().replace("_", "")
    for role in among:
        if plain in _TABLES[role]:
            return role
    head, _, tail = name.lower().rpartition("_")
    if head and tail in AXES:
        for role in among:
            if role in ("stride", "padding", "dilation", "kernel_size") and head.replace("_", "") in _TABLES[role]:
                return f"{role}.{AXES[tail]}"
    return None


def keys_of(role: str) -> tuple[str, ...]:
    """Return the keys under which a dict may have something."""
    return tuple(SYNONYMS[role].split())
