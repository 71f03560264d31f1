"""What needs programs of others, or an environment of its own: notebooks, hubs, proxies, Firefox, a wheel, the docs."""
