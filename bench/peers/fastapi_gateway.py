"""A gateway as most people write one: FastAPI, a key looked up in a dict, httpx to the service behind it."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
from fastapi import FastAPI, HTTPException, Request, Response

KEYS = {os.environ["PEER_KEY"]: "studio"}


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    limits = httpx.Limits(max_connections=128, max_keepalive_connections=128)
    async with httpx.AsyncClient(base_url=os.environ["PEER_BACKEND"], limits=limits) as client:
        app.state.client = client
        yield


app = FastAPI(lifespan=lifespan)


@app.get("/ready")
async def ready() -> dict[str, str]:
    return {"status": "ready"}


@app.get("/partner/v1/{path:path}")
async def forward(path: str, request: Request) -> Response:
    studio = KEYS.get(request.headers.get("x-service-key", ""))
    if studio is None:
        raise HTTPException(401)
    client: httpx.AsyncClient = request.app.state.client
    response = await client.get(f"/{path}", params=request.query_params, headers={"x-studio": studio})
    return Response(response.content, response.status_code, media_type=response.headers.get("content-type"))
