/**
 * Sends a GET request, and retries when the server has closed an idle connection. This happens because tests
 * compute for seconds between requests.
 */
const ATTEMPTS = 3;

export async function ask(url: string): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await fetch(url);
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
  }
}
