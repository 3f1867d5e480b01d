const LARGEST_CHARACTERS = 16 * 1024 * 1024;

interface Cached {
  etag: string;
  text: string;
}

/**
 * Responses by URL, each with its ETag, the least recently used dropped first. The text is kept, not the object:
 * whoever changes what they got changes nobody else's.
 */
export class ResponseCache {
  readonly #largest: number;
  readonly #cached = new Map<string, Cached>();
  #characters = 0;

  constructor(largest: number = LARGEST_CHARACTERS) {
    this.#largest = largest;
  }

  get(url: string): Cached | undefined {
    const found = this.#cached.get(url);
    if (found) {
      this.#cached.delete(url);
      this.#cached.set(url, found);
    }
    return found;
  }

  set(url: string, etag: string, text: string): void {
    this.#drop(url);
    this.#cached.set(url, { etag, text });
    this.#characters += url.length + text.length;
    for (const oldest of this.#cached.keys()) {
      if (this.#characters <= this.#largest) break;
      this.#drop(oldest);
    }
  }

  #drop(url: string): void {
    const found = this.#cached.get(url);
    if (!found) return;
    this.#characters -= url.length + found.text.length;
    this.#cached.delete(url);
  }
}
