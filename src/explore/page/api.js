// Requests to the program that served this page.

const token = document.querySelector('meta[name="tabia-token"]').content;

async function answer(response) {
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(body.error ?? `the program answered ${response.status}`);
  return body;
}

/** Asks for something; `parameters` are the part of the address behind "?". */
export async function get(path, parameters, signal) {
  const query = parameters ? `?${parameters}` : "";
  return answer(await fetch(path + query, { signal }));
}

/** Asks for a change. */
export async function post(path, body) {
  const headers = { "content-type": "application/json", "x-tabia-token": token };
  return answer(await fetch(path, { method: "POST", headers, body: JSON.stringify(body) }));
}
