"""Side by side: our services, the floor under them and what people would use instead."""
