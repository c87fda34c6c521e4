"""What `mypy --strict` has to refuse: each line with "wrong", and no other."""

import tabia

tabia.Policy(varity=3)  # wrong
tabia.Policy(variety="15")  # wrong
tabia.Policy(judgement="luck")  # wrong
tabia.open_book("book.ctg", varity=3)  # wrong
tabia.open_book("book.ctg", tournament="yes")  # wrong
entry = tabia.open_book("book.ctg", variety=3).find(tabia.START)
text: str = entry.move  # wrong
entry.weigth  # wrong
