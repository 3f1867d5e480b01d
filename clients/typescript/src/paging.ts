const PAGE = 200;

interface Page<Row> {
  data: Row[];
  has_more: boolean;
  next_cursor: string | null;
}

/** The rows of a list, one page after the other, each fetched when the loop gets there. */
export async function* allRows<Row>(
  list: (page: { cursor?: string; limit: number }) => Promise<Page<Row>>,
  { cursor, limit = PAGE }: { cursor?: string; limit?: number },
): AsyncGenerator<Row, void, void> {
  for (;;) {
    const page = await list(cursor === undefined ? { limit } : { cursor, limit });
    yield* page.data;
    if (!page.has_more || page.next_cursor === null) return;
    cursor = page.next_cursor;
  }
}
