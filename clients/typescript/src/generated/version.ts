// Generated from the OpenAPI document by `python -m clients.generate --write`. Do not edit.

/** The version of the API that this package speaks. */
export const API_VERSION = "2026-08-02";
