/** Everything that this package raises on purpose, except for wrong arguments. */
export class StudioPartnerError extends Error {
  override name = "StudioPartnerError";
}

/** One problem of a request that was refused with 422. */
export interface Problem {
  loc: (string | number)[];
  msg: string;
  type: string;
}

export interface ApiErrorFields {
  status: number;
  code: string;
  type: string;
  message: string;
  param: string | null;
  details: Record<string, unknown>;
  requestId: string | null;
  problems: Problem[];
  retryAfter: number | null;
  idempotencyKey: string | null;
}

/** The API refused the request. Each documented `code` has its own subclass; a code that is newer than this package is an ApiError. */
export class ApiError extends StudioPartnerError {
  override name = "ApiError";
  readonly status: number;
  readonly code: string;
  readonly type: string;
  readonly param: string | null;
  readonly details: Record<string, unknown>;
  /** Quote it to the studio's support. */
  readonly requestId: string | null;
  /** Every problem of a request that was refused with 422, each with its place. */
  readonly problems: Problem[];
  /** Seconds after which the API asks to be tried again. */
  readonly retryAfter: number | null;
  /** The key of a write: with it, the same call can be made again without a second effect. */
  readonly idempotencyKey: string | null;

  constructor(fields: ApiErrorFields) {
    super(fields.message);
    this.status = fields.status;
    this.code = fields.code;
    this.type = fields.type;
    this.param = fields.param;
    this.details = fields.details;
    this.requestId = fields.requestId;
    this.problems = fields.problems;
    this.retryAfter = fields.retryAfter;
    this.idempotencyKey = fields.idempotencyKey;
  }
}

/** No usable response arrived, after all retries. A write may have happened: call again with `idempotencyKey`. */
export class ConnectionFailed extends StudioPartnerError {
  override name = "ConnectionFailed";
  readonly idempotencyKey: string | null;

  constructor(message: string, idempotencyKey: string | null, cause?: unknown) {
    super(message, { cause });
    this.idempotencyKey = idempotencyKey;
  }
}

/**
 * The write happened, but the response that showed its secret was lost, and a secret is shown only once.
 * `resource` is everything else: rotate the endpoint's secret, or ask for a new link.
 */
export class SecretLost extends StudioPartnerError {
  override name = "SecretLost";
  readonly resource: Record<string, unknown>;
  readonly idempotencyKey: string | null;

  constructor(field: string, resource: Record<string, unknown>, idempotencyKey: string | null) {
    super(`The write has succeeded, but the response with its \`${field}\` was lost.`);
    this.resource = resource;
    this.idempotencyKey = idempotencyKey;
  }
}

/** The request is not a webhook that was signed with one of these secrets a short time ago. */
export class WebhookVerificationError extends StudioPartnerError {
  override name = "WebhookVerificationError";
}

/** The events after the given sequence cannot be followed any more: read everything again, then follow from `latest_sequence`. */
export class ResyncNeeded extends StudioPartnerError {
  override name = "ResyncNeeded";
  readonly oldestSequence: number;
  readonly reason: "expired" | "jump";

  constructor(oldestSequence: number, reason: "expired" | "jump") {
    const why = { expired: "Events after it are no longer kept", jump: "The studio was restored from a backup" };
    super(`${why[reason]}: read everything again.`);
    this.oldestSequence = oldestSequence;
    this.reason = reason;
  }
}
