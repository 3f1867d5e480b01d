import { ResyncNeeded } from "./errors.js";
import { EventsExpiredError } from "./generated/errors.js";
import type { Event } from "./generated/events.js";
import type { Operations } from "./generated/operations.js";
import type { EventKind, EventList } from "./generated/types.js";

// The API advances by at least this much after a restore, and by one for each event otherwise.
const JUMP = 1_000_000;
const WAIT_SECONDS = 20;
const PAGE = 200;

export interface FollowOptions {
  /** Only events of this type. */
  type?: EventKind;
  /** Ends the loop, with the signal's reason as its error. */
  signal?: AbortSignal;
  /** Seconds that one request waits for an event, 0 to 25. */
  wait?: number;
}

/** Events in order, each once. `position` is where to go on from: store it together with what you did with the event. */
export class Follower implements AsyncIterable<Event> {
  readonly #api: Operations;
  readonly #options: FollowOptions;
  #position: number;
  #connected = false;

  constructor(api: Operations, afterSequence: number, options: FollowOptions) {
    this.#api = api;
    this.#options = options;
    this.#position = afterSequence;
  }

  /** The sequence of the latest event that was given out, or a later one if the key may not see what came after. */
  get position(): number {
    return this.#position;
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
    try {
      const page = await this.#api.listEvents({
        ...this.#options,
        wait: this.#options.wait ?? WAIT_SECONDS,
        // Once it has worked, an outage is waited for, however long it is.
        ...(this.#connected && { retries: Infinity }),
        after_sequence: this.#position,
        limit: PAGE,
      });
      this.#connected = true;
      return page;
    } catch (problem) {
      if (!(problem instanceof EventsExpiredError)) throw problem;
      throw new ResyncNeeded(Number(problem.details["oldest_sequence"]), "expired");
    }
  }

  /** A log that jumps, or that is behind what was seen of it, is not the log that was followed before. */
  #advance(sequence: number, oldest: number): void {
    if (sequence - this.#position >= JUMP || sequence < this.#position) throw new ResyncNeeded(oldest, "jump");
    this.#position = sequence;
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
