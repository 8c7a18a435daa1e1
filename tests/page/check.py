#!/usr/bin/env python3
"""Uses the admin page in a real browser, and fails if something does not work.

    tests/page/check.py URL TOKEN PLAYERS [--pictures DIRECTORY]

PLAYERS is the minimum number of expected players; one has HOSTILE in its name. One is kicked.
"""
import argparse
import json
import os
import sys

from browser import Browser

HOSTILE = "<img src=x onerror=pwned=1>"
SIZES = [(360, 740), (820, 1180), (1280, 800)]


def log_in(page, url, token):
    page.go(url)
    page.until("!document.querySelector('#login').hidden")
    page.click("#token")
    page.type(token)
    page.key("Enter", number=13, text="\r")
    page.until("document.querySelector('#live').textContent === 'Live'")


def refuse_wrong_token(page, url):
    page.go(url)
    page.until("!document.querySelector('#login').hidden")
    page.click("#token")
    page.type("wrong")
    page.click("#login button")
    page.until("document.querySelector('#login-fault').textContent !== ''")
    assert page.run("document.querySelector('#app').hidden"), "a wrong token opens the page"
    words = page.run("document.querySelector('#login-fault').textContent")
    assert "does not know this token" in words and "Bearer" not in words, words
    assert page.run("sessionStorage.length") == 0, "a wrong token is kept"
    # The browser itself logs an answer with status 401.
    assert len(page.errors) == 1 and "401" in page.errors[0], page.errors
    page.errors.clear()
    print("a wrong token is refused")


def see_players(page, players):
    names = "[...document.querySelectorAll('#players tbody .name')].map((it) => it.textContent)"
    page.until(f"{names}.length >= {players}")
    shown = page.run(names)
    assert any(HOSTILE in name for name in shown), f"{HOSTILE} is not among {shown}"
    assert page.run("document.querySelectorAll('#app img').length") == 0, "a name became a picture"
    page.until("document.querySelector('#players .c-ping .v').textContent.endsWith(' ms')")
    drawn = """(() => {
        const it = document.querySelector('#players .c-ping canvas');
        const seen = it.getContext('2d').getImageData(0, 0, it.width, it.height).data;
        return seen.some((value) => value);
    })()"""
    page.until(drawn)
    print(f"{len(shown)} players are shown, with moving lines")


def kick(page):
    row = "#players tbody tr:last-child"
    name = page.run(f"document.querySelector('{row} .name').textContent")
    page.click(f"{row} button")
    page.until("document.querySelector('#act').open")
    assert page.run("document.querySelector('#act-title').textContent") == name
    key = page.run("document.querySelector('#facts .mono').textContent")
    # A player who is kicked for ten minutes does not come back during this check.
    page.click("#for [value='10m']")
    page.click("#act-form [name=reason]")
    page.type("tried out <b>by a test</b>")
    page.click("#do-act")
    page.until("!document.querySelector('#act').open")
    gone = f"""(async () => {{
        const headers = {{Authorization: 'Bearer ' + sessionStorage.getItem('phaselock-token')}};
        const players = await (await fetch('/v1/players', {{headers}})).json();
        return !players.some((it) => it.key === {json.dumps(key)});
    }})()"""
    page.until(gone)
    if name != HOSTILE:
        page.until(f"![...document.querySelectorAll('#players tbody .name')].some((it) => "
                   f"it.textContent === {json.dumps(name)})")
    print(f"{name} was kicked, and is gone")
    page.click("#ways a[href='#audit']")
    page.until("[...document.querySelectorAll('#audit-list tbody tr')].some((it) => "
               "it.textContent.includes('kick') && it.textContent.includes('by a test'))")
    print("the audit log says so")


def say(page):
    page.click("#ways a[href='#overview']")
    page.click("#say [name=text]")
    page.type("the host says <i>hello</i>")
    page.key("Enter", number=13, text="\r")
    page.until("[...document.querySelectorAll('#chat-feed .host')].some((it) => "
               "it.textContent.includes('<i>hello</i>'))")
    print("what the host says is in the chat")
    # Hosts who log in later see it, too.
    page.run("window.isOld = true")
    page.call("Page.reload")
    page.until("!window.isOld && document.querySelector('#live')?.textContent === 'Live'")
    page.until("[...document.querySelectorAll('#chat-feed .host')].some((it) => "
               "it.textContent.includes('<i>hello</i>'))")
    print("what was said before is in the chat")


def differ_when_cut(page):
    """Names that differ only at the end remain distinguishable when shortened."""
    page.size(1280, 800)
    seen = page.run("""[...document.querySelectorAll('#players tbody .name')].map((it) => {
        const box = it.getBoundingClientRect(), parts = [...it.children];
        const end = parts.at(-1).getBoundingClientRect();
        return !parts.at(-1).textContent || end.left >= box.left - 1 && end.right <= box.right + 1;
    })""")
    assert seen and all(seen), f"the end of a name is cut off: {seen}"
    page.until("[...document.querySelectorAll('#players .c-score .v')].some((it) => "
               "!['', '–'].includes(it.textContent.trim()))")
    print("both ends of each name are seen, and scores")


def let_in(page):
    if page.run("document.querySelector('#allow').hidden"):
        print("there is no allow list")
        return
    key = "5e" * 32
    page.click("#allow [name=key]")
    page.type(key)
    page.click("#allow [name=name]")
    page.type("Eve <b>x</b>")
    page.click("#allow button")
    page.until(f"document.querySelector('#allow-list').textContent.includes('{key}')")
    page.until("document.querySelector('#allow-list').textContent.includes('Eve <b>x</b>')")
    print("a key was put on the allow list")


def lists(page):
    for view, expected in {
        "bans": "document.querySelector('#ban-list tbody') !== null",
        "log": "document.querySelectorAll('#lines li').length > 0",
        "server": "document.querySelectorAll('#config-list tbody tr').length > 3 && "
                  "document.querySelectorAll('#token-list tbody tr').length > 0",
    }.items():
        page.click(f"#ways a[href='#{view}']")
        page.until(expected)
    print("bans, log, settings and tokens are shown")


def save_minutes(page):
    page.click("#ways a[href='#server']")
    page.click("#save-minutes button")
    page.until("document.querySelector('#notes').textContent"
               ".includes('will be written within ten seconds')")
    print("the last minutes are saved")


def look(page, pictures):
    for width, height in SIZES:
        for scheme in ("light", "dark"):
            page.size(width, height, scheme, phone=width < 500)
            for view in ("overview", "bans", "log", "audit", "server"):
                page.run(f"location.hash = '{view}'")
                page.until(f"!document.querySelector('#{view}').hidden")
                beyond = page.run("document.documentElement.scrollWidth - innerWidth")
                assert beyond <= 0, f"{view} is {beyond} px too wide for {width} px"
                if pictures:
                    page.until("new Promise((done) => setTimeout(() => done(true), 400))")
                    page.picture(os.path.join(pictures, f"{view}-{width}-{scheme}.png"))
    print(f"each view fits into {', '.join(str(width) for width, _ in SIZES)} px")


def leave(page):
    page.size(1280, 800)
    page.click("#forget")
    page.until("!document.querySelector('#login').hidden && document.querySelector('#app').hidden")
    assert page.run("sessionStorage.length") == 0, "the token is kept"
    assert page.run("document.querySelectorAll('#players tbody tr').length") == 0, "players stay"
    print("the token is forgotten")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("token")
    parser.add_argument("players", type=int)
    parser.add_argument("--pictures")
    args = parser.parse_args()
    page = Browser()
    try:
        page.size(1280, 800)
        refuse_wrong_token(page, args.url)
        log_in(page, args.url, args.token)
        see_players(page, args.players)
        kick(page)
        say(page)
        differ_when_cut(page)
        page.click("#ways a[href='#bans']")
        page.until("document.querySelector('#allow-list tbody') !== null")
        let_in(page)
        lists(page)
        save_minutes(page)
        look(page, args.pictures)
        leave(page)
        assert page.run("typeof pwned") == "undefined", "a player's name ran as a script"
        assert not page.errors, "\n".join(page.errors)
        abroad = [it for it in page.hosts if not it.startswith((args.url, "data:", "about:"))]
        assert not abroad, f"it asked elsewhere: {abroad}"
        print("no script failed, and nothing was asked for elsewhere")
    except AssertionError as error:
        page.picture(os.path.join(args.pictures or "/tmp", "page-failed.png"))
        sys.exit(f"FAILED: {error}")
    finally:
        page.close()


if __name__ == "__main__":
    main()
