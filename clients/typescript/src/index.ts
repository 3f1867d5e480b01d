export { Client } from "./client.js";
export type { ClientOptions } from "./client.js";
export { Follower } from "./events.js";
export type { FollowOptions } from "./events.js";
export {
  ApiError,
  ConnectionFailed,
  ResyncNeeded,
  SecretLost,
  StudioPartnerError,
  WebhookVerificationError,
} from "./errors.js";
export type { ApiErrorFields, Problem } from "./errors.js";
export type { CallOptions, WriteOptions } from "./transport.js";
export type { Unknown } from "./unknown.js";
export { VERSION } from "./version.js";
export * as webhooks from "./webhooks.js";
export * from "./generated/errors.js";
export * from "./generated/events.js";
export type * from "./generated/operations.js";
export type * from "./generated/types.js";
export { API_VERSION } from "./generated/version.js";
