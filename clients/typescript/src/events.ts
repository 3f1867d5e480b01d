import { ResyncNeeded } from "./errors.js";
import { EventsExpiredError } from "./generated/errors.js";
import type { Event } from "./generated/events.js";
import type { Operations } from "./generated/operations.js";
import type { EventKind, EventList } from "./generated/types.js";

// The API advances by at least this much after a restore, and by one for each event otherwise.
const JUMP = 1_000_000;
const WAIT_SECONDS = 20;
// The gateway may take this much longer than `wait`.
const GRACE_MS = 10_000;
const PAGE = 200;

export interface FollowOptions {
  /** Only events of this type. */
  type?: EventKind;
  /** Ends the loop, with the signal's reason as its error. */
  signal?: AbortSignal;
  /** Seconds that one request waits for an event, 0 to 25. */
  wait?: number;
}

/** Events in order, each once. `sequence` is where to go on from: store it together with what you did with the event. */
export class Follower implements AsyncIterable<Event> {
  readonly #api: Operations;
  readonly #options: FollowOptions;
  #sequence: number;

  constructor(api: Operations, afterSequence: number, options: FollowOptions) {
    this.#api = api;
    this.#options = options;
    this.#sequence = afterSequence;
  }

  /** The sequence of the latest event that was given out, or a later one if the key may not see what came after. */
  get sequence(): number {
    return this.#sequence;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event, never, void> {
    for (;;) {
      const page = await this.#page();
      for (const event of page.data) {
        this.#advance(event.sequence, page.oldest_sequence);
        yield event;
      }
      if (!page.has_more) this.#advance(page.latest_sequence, page.oldest_sequence);
    }
  }

  async #page(): Promise<EventList> {
    const { wait = WAIT_SECONDS, ...options } = this.#options;
    const timeout = wait * 1_000 + GRACE_MS;
    try {
      return await this.#api.listEvents({
        ...options,
        after_sequence: this.#sequence,
        limit: PAGE,
        wait,
        timeout,
      });
    } catch (problem) {
      if (!(problem instanceof EventsExpiredError)) throw problem;
      throw new ResyncNeeded(Number(problem.details["oldest_sequence"]), "expired");
    }
  }

  /** A log that jumps, or that is behind what was seen of it, is not the log that was followed before. */
  #advance(sequence: number, oldest: number): void {
    if (sequence - this.#sequence >= JUMP || sequence < this.#sequence) throw new ResyncNeeded(oldest, "jump");
    this.#sequence = sequence;
  }
}

/** `client.events` */
export class Events {
  readonly #api: Operations;

  constructor(api: Operations) {
    this.#api = api;
  }

  /**
   * Every event after this sequence, once and in order, for as long as you loop. A request waits for the next event,
   * so nothing has to reach you from outside.
   *
   * @throws ResyncNeeded when events are missing: read everything again.
   */
  follow(afterSequence: number, options: FollowOptions = {}): Follower {
    return new Follower(this.#api, afterSequence, options);
  }
}
